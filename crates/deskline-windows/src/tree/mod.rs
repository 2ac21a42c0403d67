//! The trees of apps, over UI Automation.
