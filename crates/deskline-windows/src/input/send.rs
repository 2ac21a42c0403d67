//! Sends single events, each marked as this program's.

use deskline_contract::{Error, Result};
use deskline_core::{Modifiers, Point};
use deskline_input::Button;
use windows::Win32::UI::Input::KeyboardAndMouse::{
    GetAsyncKeyState, GetKeyboardLayout, INPUT, INPUT_0, INPUT_KEYBOARD, INPUT_MOUSE,
    KEYBD_EVENT_FLAGS, KEYBDINPUT, KEYEVENTF_EXTENDEDKEY, KEYEVENTF_KEYUP, KEYEVENTF_UNICODE,
    MAPVK_VK_TO_VSC, MOUSE_EVENT_FLAGS, MOUSEEVENTF_ABSOLUTE, MOUSEEVENTF_HWHEEL,
    MOUSEEVENTF_LEFTDOWN, MOUSEEVENTF_LEFTUP, MOUSEEVENTF_MIDDLEDOWN, MOUSEEVENTF_MIDDLEUP,
    MOUSEEVENTF_MOVE, MOUSEEVENTF_RIGHTDOWN, MOUSEEVENTF_RIGHTUP, MOUSEEVENTF_VIRTUALDESK,
    MOUSEEVENTF_WHEEL, MOUSEINPUT, MapVirtualKeyExW, SendInput, VIRTUAL_KEY, VkKeyScanExW,
};
use windows::Win32::UI::WindowsAndMessaging::{
    GetForegroundWindow, GetSystemMetrics, GetWindowThreadProcessId, SM_SWAPBUTTON, WHEEL_DELTA,
};

use super::MARK;
use crate::os::screen;

fn send(inputs: &[INPUT]) -> Result<()> {
    // SAFETY: the list is valid, and the size is that of its items.
    let sent = unsafe { SendInput(inputs, size_of::<INPUT>() as i32) };
    if sent as usize == inputs.len() {
        return Ok(());
    }
    Err(Error::system("sending input")(
        std::io::Error::last_os_error(),
    ))
}

fn keyboard(code: u16, scan: u16, flags: KEYBD_EVENT_FLAGS) -> INPUT {
    INPUT {
        r#type: INPUT_KEYBOARD,
        Anonymous: INPUT_0 {
            ki: KEYBDINPUT {
                wVk: VIRTUAL_KEY(code),
                wScan: scan,
                dwFlags: flags,
                time: 0,
                dwExtraInfo: MARK,
            },
        },
    }
}

fn mouse(dx: i32, dy: i32, data: i32, flags: MOUSE_EVENT_FLAGS) -> INPUT {
    INPUT {
        r#type: INPUT_MOUSE,
        Anonymous: INPUT_0 {
            mi: MOUSEINPUT {
                dx,
                dy,
                mouseData: data.cast_unsigned(),
                dwFlags: flags,
                time: 0,
                dwExtraInfo: MARK,
            },
        },
    }
}

/// Presses or releases a key. The event has the scan code of the front window's layout too, because
/// games and remote desktops read that.
pub(crate) fn key(code: u16, extended: bool, down: bool) -> Result<()> {
    send(&[stroke(code, extended, down)])
}

fn stroke(code: u16, extended: bool, down: bool) -> INPUT {
    // SAFETY: the arguments are numbers.
    let scan = unsafe { MapVirtualKeyExW(code.into(), MAPVK_VK_TO_VSC, Some(layout())) };
    let mut flags = KEYBD_EVENT_FLAGS(0);
    if extended {
        flags |= KEYEVENTF_EXTENDEDKEY;
    }
    if !down {
        flags |= KEYEVENTF_KEYUP;
    }
    keyboard(code, scan as u16, flags)
}

/// Presses or releases a character without a key.
pub(super) fn text(units: &[u16], down: bool) -> Result<()> {
    let mut flags = KEYEVENTF_UNICODE;
    if !down {
        flags |= KEYEVENTF_KEYUP;
    }
    let events: Vec<INPUT> = units.iter().map(|unit| keyboard(0, *unit, flags)).collect();
    send(&events)
}

/// Moves the pointer.
pub(crate) fn motion(to: Point) -> Result<()> {
    let screen = screen();
    // Windows divides the bounds of all monitors into 65536 units: take the pixel's first unit.
    let scaled = |at: i32, from: i32, size: i32| {
        let size = i64::from(size.max(1));
        let offset = i64::from(at) - i64::from(from);
        ((offset * 65_536 + size - 1) / size) as i32
    };
    let dx = scaled(to.x, screen.x, screen.w);
    let dy = scaled(to.y, screen.y, screen.h);
    send(&[mouse(
        dx,
        dy,
        0,
        MOUSEEVENTF_MOVE | MOUSEEVENTF_ABSOLUTE | MOUSEEVENTF_VIRTUALDESK,
    )])
}

/// Presses or releases a button at the pointer's position.
pub(crate) fn button(button: Button, down: bool) -> Result<()> {
    // Events name the physical buttons, which the person may have swapped.
    // SAFETY: the argument is a constant.
    let swapped = unsafe { GetSystemMetrics(SM_SWAPBUTTON) != 0 };
    let button = match button {
        Button::Left if swapped => Button::Right,
        Button::Right if swapped => Button::Left,
        button => button,
    };
    let flags = match (button, down) {
        (Button::Left, true) => MOUSEEVENTF_LEFTDOWN,
        (Button::Left, false) => MOUSEEVENTF_LEFTUP,
        (Button::Middle, true) => MOUSEEVENTF_MIDDLEDOWN,
        (Button::Middle, false) => MOUSEEVENTF_MIDDLEUP,
        (Button::Right, true) => MOUSEEVENTF_RIGHTDOWN,
        (Button::Right, false) => MOUSEEVENTF_RIGHTUP,
    };
    send(&[mouse(0, 0, 0, flags)])
}

/// Turns the wheel by notches at the pointer's position.
pub(super) fn wheel(right: i32, down: i32) -> Result<()> {
    let notch = WHEEL_DELTA.cast_signed();
    for (notches, flags) in [(right, MOUSEEVENTF_HWHEEL), (-down, MOUSEEVENTF_WHEEL)] {
        if notches != 0 {
            send(&[mouse(0, 0, notches * notch, flags)])?;
        }
    }
    Ok(())
}

/// Sends a motion by 0, which makes this process the sender of the last input event.
pub(crate) fn nothing() -> Result<()> {
    send(&[mouse(0, 0, 0, MOUSEEVENTF_MOVE)])
}

/// The layout of the front window's thread.
fn layout() -> windows::Win32::UI::Input::KeyboardAndMouse::HKL {
    // SAFETY: the calls allow the handle of a window that is gone; thread 0 is the current thread.
    unsafe { GetKeyboardLayout(GetWindowThreadProcessId(GetForegroundWindow(), None)) }
}

/// The key for a character in the front window's layout, and the modifiers that the character
/// needs.
pub(super) fn by_layout(c: char) -> Option<(u16, Modifiers)> {
    let mut units = [0; 2];
    let &mut [unit] = c.encode_utf16(&mut units) else {
        return None;
    };
    // SAFETY: the arguments are numbers.
    let found = unsafe { VkKeyScanExW(unit, layout()) };
    let [code, state] = found.to_le_bytes();
    if found == -1 || state & !0b111 != 0 {
        return None;
    }
    let needs = [Modifiers::SHIFT, Modifiers::CONTROL, Modifiers::ALT];
    let needs = (0..).zip(needs).filter(|(bit, _)| state & (1 << bit) != 0);
    Some((code.into(), needs.map(|(_, modifier)| modifier).collect()))
}

/// Whether a key or button is down, by the person or by a program.
pub(crate) fn is_down(code: u16) -> bool {
    // SAFETY: the argument is a number.
    unsafe { GetAsyncKeyState(code.into()) < 0 }
}

/// Releases the keys that the person holds, so that they do not modify the input. To be called
/// before this program presses keys itself.
pub(crate) fn release_keys() -> Result<()> {
    // Codes below 8 are mouse buttons. Leave the lock keys alone: they have a state.
    const LOCKS: [u16; 3] = [0x14, 0x90, 0x91];
    // Alt and the Windows keys open the menu bar or Start when they are released, unless another
    // key was pressed meanwhile. So press Control, as AutoHotkey does (`A_MenuMaskKey`).
    const ALONE: [u16; 5] = [0x12, 0xa4, 0xa5, 0x5b, 0x5c];
    const CONTROL: u16 = 0x11;
    if ALONE.into_iter().any(is_down) {
        key(CONTROL, false, true)?;
        key(CONTROL, false, false)?;
    }
    for code in (0x08..=0xfe).filter(|code| !LOCKS.contains(code) && is_down(*code)) {
        key(code, super::keys::is_extended(code), false)?;
    }
    Ok(())
}
