//! Windows, the pointer, pictures and the clipboard.
