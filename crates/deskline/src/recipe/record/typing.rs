//! Keys and texts of a recording.

use deskline_core::{Line, Modifiers, States, Text};
use deskline_recipe::{HIDDEN, Screen};
use serde_json::json;

use super::{AFTER, Fallible, Recorder};

impl Recorder<'_> {
    pub(super) fn character(&mut self, char: char) {
        let secure = self.screen.focused().next().is_some_and(is_secure);
        if secure || self.typed.as_deref() == Some(HIDDEN) {
            self.typed = Some(HIDDEN.to_owned());
        } else {
            self.typed.get_or_insert_default().push(char);
        }
    }

    pub(super) async fn key(&mut self, name: &str, modifiers: Modifiers) -> Fallible {
        if name == "BackSpace"
            && modifiers.is_empty()
            && let Some(text) = self.typed.as_mut().filter(|text| *text != HIDDEN)
            && text.pop().is_some()
        {
            return Ok(());
        }
        self.typed().await?;
        let held = modifiers.keys().map(|(_, _, name)| name.split(' ').next());
        let held: Vec<_> = held.collect();
        let mut arguments = json!({"keyName": name});
        if !held.is_empty() {
            arguments["modifierFlags"] = json!(held);
        }
        tokio::time::sleep(AFTER).await;
        self.look("press_key_and_traverse", arguments).await
    }

    /// Records what was typed: the typed text or, if the field shows something else, the field's
    /// value.
    pub(super) async fn typed(&mut self) -> Fallible {
        let text = self.typed.take().unwrap_or_default();
        if text == HIDDEN {
            let hidden = json!({"text": HIDDEN});
            return self.look("type_and_traverse", hidden).await;
        }
        if text.is_empty() {
            return Ok(());
        }
        let asks = |screen: &Screen| screen.visible().any(is_secure);
        let asked = asks(&self.screen);
        let is_new = self.refresh().await?;
        let field = self.screen.focused().next().filter(|_| is_new);
        let whole = |text: &Text| text.omitted_before + text.omitted_after == 0;
        let value = field.and_then(|line| line.value.as_ref().or(line.text.as_ref()));
        let editable = field.is_some_and(|line| line.states.contains(States::EDITABLE));
        let value = value.filter(|value| editable && whole(value));
        // The focus may have left a password field before this reading.
        let may_be_secret = value.is_none() && (asked || asks(&self.screen));
        if field.is_some_and(is_secure) || may_be_secret {
            self.add("type_and_traverse", json!({"text": HIDDEN}), None);
        } else if let Some(value) = value.filter(|value| !value.shown.contains(&text)) {
            let (value, field) = (json!({"value": value.shown}), field.cloned());
            self.add("set_value_and_traverse", value, field.as_ref());
        } else {
            self.add("type_and_traverse", json!({"text": text}), None);
        }
        Ok(())
    }
}

fn is_secure(line: &Line) -> bool {
    line.states.contains(States::SECURE)
}
