"""A model that follows a script, so that the examples run without an account.

A script is a generator: it yields calls, (tool, arguments), and is sent their answers.
"""

import re


def field(answer, name):
    """A field of an answer, such as `pid`."""
    return re.search(rf"^{name}: (.*)$", answer, re.M).group(1)


def a_note(text, path):
    """Writes a text in an editor and saves it."""
    opened = yield "open_application_and_traverse", {"identifier": "mousepad"}
    steps = [
        {"do": "type", "text": text},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
        {"do": "type", "text": path, "pressKey": "Return"},
        {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
    ]
    yield "chain_and_traverse", {"pid": int(field(opened, "pid")), "steps": steps}


def a_form(path):
    """Fills in a form, field by field, and sends it."""
    form = f"zenity --forms --add-entry=Name --add-entry=Phone --add-entry=City > {path}"
    opened = yield "open_application_and_traverse", {"identifier": f"sh -c '{form}'"}
    pid = int(field(opened, "pid"))
    found = yield "search_tree", {"pattern": "AXTextField", "file": field(opened, "file")}
    name, phone, city = re.findall(r"#(e\d+) in", found)
    yield "set_value_and_traverse", {"pid": pid, "ref": name, "value": "Ann"}
    yield "set_value_and_traverse", {"pid": pid, "ref": phone, "value": "555"}
    # The first call's file, from before the restart, still has the screen of that time.
    button = yield "search_tree", {"pattern": "AXButton.*OK", "file": field(opened, "file")}
    yield "set_value_and_traverse", {"pid": pid, "ref": city, "value": "Oslo"}
    ref = re.search(r"#(e\d+) in", button).group(1)
    yield "press_ax_and_traverse", {"pid": pid, "ref": ref}


def a_memory(path, known):
    """Enters a telephone number: by the name that it remembers, or else by a search for the field."""
    form = f"zenity --forms --add-entry=Name --add-entry=Telephone > {path}"
    opened = yield "open_application_and_traverse", {"identifier": f"sh -c '{form}'"}
    pid = int(field(opened, "pid"))
    place = re.search(r"telephone of the form: (AX\w+) named (\w+)", known)
    if not place:
        tree = field(opened, "file")
        found = yield "search_tree", {"pattern": "AXTextField.*Telephone", "file": tree}
        place = re.search(r'\[(AX\w+)[^]]*\] "(\w+)"', found)
        told = f"The telephone of the form: {place[1]} named {place[2]}. Tree: {tree}"
        yield "remember", {"text": told}
    target = {"pid": pid, "role": place[1], "element": place[2]}
    yield "set_value_and_traverse", {**target, "value": "555"}
    yield "press_ax_and_traverse", {"pid": pid, "element": "OK", "role": "AXButton"}


def next_call(script, answers):
    """The call that follows these answers; None at the end of the script. An error ends it too."""
    call = next(script)
    try:
        for answer in answers:
            if not answer.lstrip().startswith("status: success"):
                raise RuntimeError(answer)
            call = script.send(answer)
    except StopIteration:
        return None
    return call


def as_claude(messages, script, prefix=""):
    """What Claude would answer to these messages, in the form of Anthropic's Messages API."""
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    answers = [r if isinstance(r, str) else r[0]["text"] for r in results]
    call = next_call(script, answers)
    block, stop = {"type": "text", "text": "done"}, "end_turn"
    if call:
        identifier = f"toolu_{len(answers)}"
        name = prefix + call[0]
        block = {"type": "tool_use", "id": identifier, "name": name, "input": call[1]}
        stop = "tool_use"
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
    answer |= {"content": [block], "stop_reason": stop, "stop_sequence": None}
    return answer | {"usage": {"input_tokens": 0, "output_tokens": 0}}
