//! A text of a million characters in a slow app: an answer takes longer the more characters are
//! requested, as in Word and in Windows' console (microsoft/terminal #6453). Like the console's,
//! the element has no other pattern.
#![cfg(windows)]
#![allow(unsafe_code, clippy::unwrap_used, non_upper_case_globals)]

use std::cell::Cell;
use std::ops::Range;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use deskline_contract::{Desktop, Platform as _, Scope};
use deskline_core::Text;
use deskline_windows::WinPlatform;
use windows::Win32::Foundation::{E_NOTIMPL, HWND, LPARAM, LRESULT, WPARAM};
use windows::Win32::System::Com::SAFEARRAY;
use windows::Win32::System::Ole::{SafeArrayCreateVector, SafeArrayPutElement};
use windows::Win32::System::Variant::{VARIANT, VT_UNKNOWN};
use windows::Win32::UI::Accessibility::*;
use windows::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DefWindowProcW, DispatchMessageW, GetMessageW, MSG, RegisterClassW,
    WINDOW_EX_STYLE, WM_GETOBJECT, WNDCLASSW, WS_OVERLAPPEDWINDOW, WS_VISIBLE,
};
use windows::core::{BOOL, BSTR, IUnknown, Interface, Ref, Result, implement, w};
use windows_core::IUnknownImpl as _;

/// The environment variable of the app's process.
const APP: &str = "DESKLINE_TEST_LONG";

/// The variable's value for an app like Windows' terminal: a text whose name is that of its profile
/// (`TermControlAutomationPeer`).
const TERMINAL: &str = "terminal";

/// The length of the text, the length of its visible part, and the time that a character takes.
const LENGTH: usize = 1_000_000;
const SHOWN: Range<usize> = 500_000..500_400;
const COSTS: Duration = Duration::from_micros(2);

/// A range of the text.
#[implement(ITextRangeProvider)]
struct Part(Cell<usize>, Cell<usize>);

fn part(range: Range<usize>) -> ITextRangeProvider {
    Part(Cell::new(range.start), Cell::new(range.end)).into()
}

/// The text's character at each place.
fn character(at: usize) -> char {
    match at {
        at if SHOWN.contains(&at) => "It shows here. ".as_bytes()[(at - SHOWN.start) % 15].into(),
        at if at % 60 == 59 => '\n',
        _ => 'x',
    }
}

fn no<T>() -> Result<T> {
    Err(E_NOTIMPL.into())
}

/// Methods that do nothing.
macro_rules! lacks {
    ($($name:ident($($kind:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $(_: $kind),*) -> Result<$result> { no() })*
    };
}

impl ITextRangeProvider_Impl for Part_Impl {
    fn Clone(&self) -> Result<ITextRangeProvider> {
        Ok(part(self.0.get()..self.1.get()))
    }

    fn GetText(&self, most: i32) -> Result<BSTR> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let text: String = (self.0.get()..self.1.get())
            .take(most)
            .map(character)
            .collect();
        std::thread::sleep(COSTS * text.len() as u32);
        Ok(text.into())
    }

    fn MoveEndpointByRange(
        &self,
        endpoint: TextPatternRangeEndpoint,
        target: Ref<ITextRangeProvider>,
        to: TextPatternRangeEndpoint,
    ) -> Result<()> {
        let target = target.unwrap().cast_object_ref::<Part>()?;
        let at = [target.0.get(), target.1.get()][to.0 as usize];
        [&self.0, &self.1][endpoint.0 as usize].set(at);
        Ok(())
    }

    lacks! {
        Compare(Ref<ITextRangeProvider>) -> BOOL;
        CompareEndpoints(TextPatternRangeEndpoint, Ref<ITextRangeProvider>, TextPatternRangeEndpoint) -> i32;
        ExpandToEnclosingUnit(TextUnit) -> ();
        FindAttribute(UIA_TEXTATTRIBUTE_ID, &VARIANT, BOOL) -> ITextRangeProvider;
        FindText(&BSTR, BOOL, BOOL) -> ITextRangeProvider;
        GetAttributeValue(UIA_TEXTATTRIBUTE_ID) -> VARIANT;
        GetBoundingRectangles() -> *mut SAFEARRAY;
        GetEnclosingElement() -> IRawElementProviderSimple;
        Move(TextUnit, i32) -> i32;
        MoveEndpointByUnit(TextPatternRangeEndpoint, TextUnit, i32) -> i32;
        Select() -> ();
        AddToSelection() -> ();
        RemoveFromSelection() -> ();
        ScrollIntoView(BOOL) -> ();
        GetChildren() -> *mut SAFEARRAY;
    }
}

/// The window's element.
#[implement(
    IRawElementProviderSimple,
    IRawElementProviderFragment,
    IRawElementProviderFragmentRoot,
    ITextProvider
)]
struct Document(HWND);

impl IRawElementProviderSimple_Impl for Document_Impl {
    fn ProviderOptions(&self) -> Result<ProviderOptions> {
        Ok(ProviderOptions_ServerSideProvider)
    }
    fn GetPatternProvider(&self, pattern: UIA_PATTERN_ID) -> Result<IUnknown> {
        match pattern {
            UIA_TextPatternId => self.to_interface::<ITextProvider>().cast(),
            _ => no(),
        }
    }
    fn GetPropertyValue(&self, property: UIA_PROPERTY_ID) -> Result<VARIANT> {
        let is_terminal = std::env::var_os(APP).is_some_and(|kind| kind == TERMINAL);
        Ok(match property {
            UIA_NamePropertyId if is_terminal => BSTR::from("PowerShell").into(),
            UIA_ControlTypePropertyId if is_terminal => UIA_TextControlTypeId.0.into(),
            UIA_IsKeyboardFocusablePropertyId => is_terminal.into(),
            UIA_ControlTypePropertyId => UIA_DocumentControlTypeId.0.into(),
            UIA_IsEnabledPropertyId | UIA_IsControlElementPropertyId => true.into(),
            _ => VARIANT::default(),
        })
    }
    fn HostRawElementProvider(&self) -> Result<IRawElementProviderSimple> {
        // SAFETY: a window of this program.
        unsafe { UiaHostProviderFromHwnd(self.0) }
    }
}

impl IRawElementProviderFragment_Impl for Document_Impl {
    lacks! {
        Navigate(NavigateDirection) -> IRawElementProviderFragment;
        GetRuntimeId() -> *mut SAFEARRAY;
    }
    fn BoundingRectangle(&self) -> Result<UiaRect> {
        let (left, top, width, height) = (40.0, 40.0, 300.0, 200.0);
        Ok(UiaRect {
            left,
            top,
            width,
            height,
        })
    }
    lacks! {
        GetEmbeddedFragmentRoots() -> *mut SAFEARRAY;
        SetFocus() -> ();
    }
    fn FragmentRoot(&self) -> Result<IRawElementProviderFragmentRoot> {
        Ok(self.to_interface())
    }
}

impl IRawElementProviderFragmentRoot_Impl for Document_Impl {
    lacks! {
        ElementProviderFromPoint(f64, f64) -> IRawElementProviderFragment;
        GetFocus() -> IRawElementProviderFragment;
    }
}

impl ITextProvider_Impl for Document_Impl {
    fn GetVisibleRanges(&self) -> Result<*mut SAFEARRAY> {
        let shown: IUnknown = part(SHOWN).cast()?;
        // SAFETY: the array has one element, which it keeps.
        unsafe {
            let array = SafeArrayCreateVector(VT_UNKNOWN, 0, 1);
            SafeArrayPutElement(array, &0, shown.as_raw())?;
            Ok(array)
        }
    }
    fn DocumentRange(&self) -> Result<ITextRangeProvider> {
        Ok(part(0..LENGTH))
    }
    lacks! {
        GetSelection() -> *mut SAFEARRAY;
        RangeFromChild(Ref<IRawElementProviderSimple>) -> ITextRangeProvider;
        RangeFromPoint(&UiaPoint) -> ITextRangeProvider;
        SupportedTextSelection() -> SupportedTextSelection;
    }
}

unsafe extern "system" fn on_message(
    window: HWND,
    message: u32,
    what: WPARAM,
    data: LPARAM,
) -> LRESULT {
    // SAFETY: forwards the arguments of this call.
    unsafe {
        if message == WM_GETOBJECT && data.0 as i32 == UiaRootObjectId {
            let provider: IRawElementProviderSimple = Document(window).into();
            return UiaReturnRawElementProvider(window, what, data, &provider);
        }
        DefWindowProcW(window, message, what, data)
    }
}

#[test]
fn an_app() {
    if std::env::var_os(APP).is_none() {
        return;
    }
    let (class, shape) = (w!("DesklineLong"), WS_OVERLAPPEDWINDOW | WS_VISIBLE);
    let (plain, none) = (WINDOW_EX_STYLE(0), None);
    // SAFETY: the texts outlive the calls.
    unsafe {
        RegisterClassW(&WNDCLASSW {
            lpfnWndProc: Some(on_message),
            lpszClassName: class,
            ..WNDCLASSW::default()
        });
        CreateWindowExW(
            plain,
            class,
            w!("Long"),
            shape,
            40,
            40,
            300,
            200,
            none,
            None,
            None,
            None,
        )
        .unwrap();
        let mut message = MSG::default();
        while GetMessageW(&raw mut message, None, 0, 0).as_bool() {
            DispatchMessageW(&raw const message);
        }
    }
}

struct App(Child);

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The text of the app's element, and how long the traversal took.
fn read(kind: &str) -> Option<(Text, Duration)> {
    std::env::var_os("DESKLINE_QT")?;
    let mut app = Command::new(std::env::current_exe().unwrap());
    let app = app
        .args(["--exact", "an_app", "--nocapture"])
        .env(APP, kind);
    let app = App(app.spawn().unwrap());
    let mut desktop: Box<dyn Desktop> = WinPlatform::new().connect().unwrap();
    let budget = Duration::from_millis(500);
    let begun = Instant::now();
    let mut read = || loop {
        let asked = Instant::now();
        match desktop.read(app.0.id(), Scope::Whole { budget }) {
            Ok(tree) => break (tree, asked.elapsed()),
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    // A busy machine may add to some of the times.
    let times = std::iter::repeat_with(&mut read).take(5);
    let (tree, took) = times.min_by_key(|(_, took)| *took).unwrap();
    let mut texts = tree.elements.iter().map(|e| &e.value);
    let text = texts.find(|text| !text.is_blank());
    let text = text.unwrap_or_else(|| panic!("no text after {took:?}: {:?}", tree.elements));
    Some((text.clone(), took))
}

#[test]
fn a_terminal_with_a_name_still_shows_its_text() {
    let Some((text, _)) = read(TERMINAL) else {
        return;
    };
    assert!(text.shown.starts_with("It shows here. "), "{text:?}");
}

#[test]
fn a_long_text_shows_its_visible_part_and_is_read_quickly() {
    let Some((text, took)) = read("document") else {
        return;
    };
    println!("{took:?}");
    assert!(text.shown.starts_with("It shows here. "), "{text:?}");
    assert!(
        text.omitted_before > 1_000 && text.omitted_after > 1_000,
        "{text:?}"
    );
    assert!(took < Duration::from_secs(1), "{took:?}");
}
