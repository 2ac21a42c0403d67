"""A Tk window, which is on no accessibility bus. Logs the input that reaches it, one line per
event. Polls keys and the button 30 times a second, as games do.

A text is logged by the button "Go"; a right click opens a menu; the pad takes drags and the wheel.
"""

import sys
import tkinter as tk

LOG = open(sys.argv[1], "w", buffering=1)
SHOWN = sys.argv[2] if len(sys.argv) > 2 else "Total 42"


def log(*words):
    print(*words, file=LOG)


root = tk.Tk()
root.title("Tk form")
root.geometry("420x320+200+200")
tk.Label(root, text=SHOWN).place(x=20, y=10)
entry = tk.Entry(root)
entry.place(x=20, y=40, width=220, height=30)
tk.Button(root, text="Go", command=lambda: log("go", entry.get())).place(
    x=20, y=80, width=100, height=40
)
pad = tk.Canvas(root, bg="white", highlightthickness=0)
pad.place(x=20, y=140, width=380, height=160)
menu = tk.Menu(root, tearoff=False)
menu.add_command(label="Mark it", command=lambda: log("mark"))

down, was, keys, clicks, button, was_button = set(), set(), 0, 0, False, False
start = (0, 0)


def press(event):
    global button, start
    button, start = True, (event.x, event.y)
    pad.focus_set()


def release(event):
    global button
    button = False
    if abs(event.x - start[0]) > 20:
        log("drag", start[0], start[1], event.x, event.y)


pad.bind("<KeyPress>", lambda event: down.add(event.keysym))
pad.bind("<KeyRelease>", lambda event: down.discard(event.keysym))
pad.bind("<ButtonPress-1>", press)
pad.bind("<ButtonRelease-1>", release)
pad.bind("<ButtonPress-3>", lambda event: menu.tk_popup(event.x_root, event.y_root))
pad.bind("<ButtonPress-5>", lambda _: log("wheel"))


def poll():
    global keys, clicks, was, was_button
    before = (keys, clicks)
    keys += len(down - was)
    clicks += button and not was_button
    was, was_button = set(down), button
    if (keys, clicks) != before:
        log("seen", keys, clicks)
    root.after(33, poll)


poll()
log("ready")
root.mainloop()
