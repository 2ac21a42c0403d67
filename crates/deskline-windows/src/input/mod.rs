//! The pointer and the keyboard, over `SendInput`.
