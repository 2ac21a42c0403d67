use std::collections::HashSet;

use deskline_core::Role;

#[test]
fn each_role_number_of_at_spi_has_its_role_name() {
    for (number, ax, native) in [
        (7, Role::CHECK_BOX, "check box"),
        (11, Role::COMBO_BOX, "combo box"),
        (16, Role::WINDOW, "dialog"),
        (29, Role::STATIC_TEXT, "label"),
        (32, Role::ROW, "list item"),
        (37, Role::TAB, "page tab"),
        (43, Role::BUTTON, "push button"),
        (61, Role::TEXT_FIELD, "text"),
        (62, Role::CHECK_BOX, "toggle button"),
        (75, Role::APPLICATION, "application"),
        (79, Role::TEXT_FIELD, "entry"),
        (95, Role::WEB_AREA, "document web"),
        (116, Role::STATIC_TEXT, "static"),
        (129, Role::MENU_BUTTON, "push button menu"),
        (130, Role::CHECK_BOX, "switch"),
        (131, Role::UNKNOWN, "role 131"),
        (u32::MAX, Role::UNKNOWN, "role 4294967295"),
    ] {
        assert_eq!(Role::from_atspi(number), (ax, native.into()));
    }
}

#[test]
fn roles_of_macos_and_windows_map_to_common_roles() {
    let ax = |role, subrole| Role::from_ax(role, subrole);
    assert_eq!(ax("AXButton", None), (Role::BUTTON, "AXButton".into()));
    assert_eq!(ax("AXRadioButton", Some("AXTabButton")).0, Role::TAB);
    let search = ax("AXTextField", Some("AXSearchField"));
    assert_eq!(search, (Role::TEXT_FIELD, "AXSearchField".into()));
    assert_eq!(ax("AXNew", None), (Role::UNKNOWN, "AXNew".into()));
    assert_eq!(Role::from_uia(50_000), (Role::BUTTON, "Button".into()));
    assert_eq!(Role::from_uia(50_040), (Role::TOOLBAR, "AppBar".into()));
    for wrong in [49_999, 50_041, i32::MIN] {
        assert_eq!(Role::from_uia(wrong).0, Role::UNKNOWN);
    }
}

#[test]
fn every_role_has_a_name_of_its_own() {
    let names: HashSet<_> = Role::ALL.iter().map(|role| role.ax()).collect();
    assert_eq!(names.len(), Role::ALL.len());
    for role in Role::ALL {
        assert_eq!(Role::from_name(role.ax()), Some(*role));
        assert!(role.ax().starts_with("AX"));
    }
}

#[test]
fn a_native_role_that_adds_nothing_is_not_printed() {
    assert!(!Role::SLIDER.says_more("slider"));
    assert!(!Role::CHECK_BOX.says_more("check box"));
    assert!(!Role::BUTTON.says_more("AXButton"));
    assert!(!Role::BUTTON.says_more(" "));
    assert!(Role::CHECK_BOX.says_more("toggle button"));
    assert!(Role::TEXT_FIELD.says_more("AXSearchField"));
}

#[test]
fn the_role_of_an_at_spi_menu_depends_on_its_container() {
    let menu = |container| Role::MENU.inside(container, "menu");
    assert_eq!(menu(Role::MENU_BAR), Role::MENU_BAR_ITEM);
    assert_eq!(menu(Role::MENU_BAR_ITEM), Role::MENU_ITEM);
    assert_eq!(menu(Role::MENU), Role::MENU_ITEM);
    assert_eq!(menu(Role::COMBO_BOX), Role::MENU);
    let popup = Role::MENU.inside(Role::MENU_BAR_ITEM, "popup menu");
    assert_eq!(popup, Role::MENU);
}
