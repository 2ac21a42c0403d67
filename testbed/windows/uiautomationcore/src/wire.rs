//! How requests and answers are written into shared memory.

use std::sync::Arc;

/// A client's request to an app's providers. `element` 0 is the window itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// These properties of an element, of its children, or of all that is below it.
    Read {
        element: u32,
        scope: Scope,
        properties: Vec<i32>,
    },
    /// One step to a relative, and its properties.
    Step {
        element: u32,
        direction: i32,
        properties: Vec<i32>,
    },
    /// A method of a control pattern.
    Act {
        element: u32,
        pattern: i32,
        method: u32,
        text: String,
        number: f64,
    },
    /// The ranges of a text that show; all of it as one range.
    VisibleRanges {
        element: u32,
    },
    WholeRange {
        element: u32,
    },
    CloneRange {
        range: u32,
    },
    RangeText {
        range: u32,
        most: i32,
    },
    MoveEndpoint {
        range: u32,
        endpoint: i32,
        target: u32,
        target_endpoint: i32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Element,
    Children,
    Subtree,
}

/// The value of a property.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    #[default]
    Empty,
    Bool(bool),
    Int(i32),
    Number(f64),
    Text(String),
    Ints(Vec<i32>),
    Numbers(Vec<f64>),
}

/// An element with the properties that were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    pub element: u32,
    pub properties: Vec<(i32, Value)>,
    pub children: Vec<Arc<Self>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An `HRESULT`.
    Failed(i32),
    Done,
    Nodes(Vec<Arc<Node>>),
    Ranges(Vec<u32>),
    Text(String),
}

/// Something that is written and read.
pub trait Wire: Sized {
    fn put(&self, to: &mut Vec<u8>);
    /// `None` if the bytes are none.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Wire for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )*};
}

numbers!(u8 u32 i32 f64);

impl Wire for String {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u32).put(to);
        to.extend(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = u32::take(from)? as usize;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u32).put(to);
        for item in self {
            item.put(to);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = u32::take(from)?;
        (0..length).map(|_| T::take(from)).collect()
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.as_ref().put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        T::take(from).map(Self::new)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// Writes and reads the variants of an enum with their fields.
macro_rules! variants {
    ($type:ident { $($tag:literal $variant:ident $({ $($field:ident),* })? $(($inner:ident))?,)* }) => {
        impl Wire for $type {
            fn put(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => {
                        <u8 as Wire>::put(&$tag, to);
                        $($($field.put(to);)*)?
                        $($inner.put(to);)?
                    })*
                }
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                match u8::take(from)? {
                    $($tag => {
                        $($(let $field = Wire::take(from)?;)*)?
                        $(let $inner = Wire::take(from)?;)?
                        Some(Self::$variant $({ $($field),* })? $(($inner))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

impl Wire for bool {
    fn put(&self, to: &mut Vec<u8>) {
        u8::from(*self).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(u8::take(from)? != 0)
    }
}

variants!(Scope { 0 Element, 1 Children, 2 Subtree, });

variants!(Value {
    0 Empty,
    1 Bool(value),
    2 Int(value),
    3 Number(value),
    4 Text(value),
    5 Ints(value),
    6 Numbers(value),
});

variants!(Request {
    0 Read { element, scope, properties },
    1 Step { element, direction, properties },
    2 Act { element, pattern, method, text, number },
    3 VisibleRanges { element },
    4 WholeRange { element },
    5 CloneRange { range },
    6 RangeText { range, most },
    7 MoveEndpoint { range, endpoint, target, target_endpoint },
});

variants!(Answer {
    0 Failed(code),
    1 Done,
    2 Nodes(nodes),
    3 Ranges(ranges),
    4 Text(text),
});

impl Wire for Node {
    fn put(&self, to: &mut Vec<u8>) {
        self.element.put(to);
        self.properties.put(to);
        self.children.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            element: Wire::take(from)?,
            properties: Wire::take(from)?,
            children: Wire::take(from)?,
        })
    }
}
