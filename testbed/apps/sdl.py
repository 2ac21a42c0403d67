#!/usr/bin/python3
"""An SDL window, which is on no accessibility bus. Draws its words, and polls the keyboard and the
mouse 60 times a second, as games do. Logs clicks on its button, the text that Return ends, F5, the
wheel and drags.

Usage: sdl.py LOG
"""

import os
import sys

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame

LOG = open(sys.argv[1], "w", buffering=1)
pygame.init()
screen = pygame.display.set_mode((420, 240))
pygame.display.set_caption("SDL form")
font = pygame.font.SysFont("dejavusans", 20)
button = pygame.Rect(20, 60, 120, 40)
typed, shown, was_down, clock = "", None, False, pygame.time.Clock()
f5, was_f5, start = 0, False, (0, 0)
pygame.key.start_text_input()
print("ready", file=LOG)
while True:
    for event in pygame.event.get():
        if event.type == pygame.QUIT:
            sys.exit()
        if event.type == pygame.TEXTINPUT:
            typed += event.text
        if event.type == pygame.KEYDOWN and event.key == pygame.K_RETURN:
            print("typed", typed, file=LOG)
        if event.type == pygame.MOUSEWHEEL:
            print("wheel", file=LOG)
        if event.type == pygame.MOUSEBUTTONUP and event.button == 1 and event.pos != start:
            print("drag", *start, *event.pos, file=LOG)
        if event.type == pygame.MOUSEBUTTONDOWN:
            start = event.pos
        if event.type == pygame.WINDOWEXPOSED:
            shown = None
    down = pygame.mouse.get_pressed()[0]
    if down and not was_down and button.collidepoint(pygame.mouse.get_pos()):
        print("pressed", file=LOG)
    was_down = down
    is_f5 = pygame.key.get_pressed()[pygame.K_F5]
    if is_f5 and not was_f5:
        f5 += 1
        print("F5", f5, file=LOG)
    was_f5 = is_f5
    clock.tick(60)
    if shown == typed:
        continue
    shown = typed
    screen.fill((240, 240, 235))
    pygame.draw.rect(screen, (190, 200, 220), button)
    for text, place in (("Total 42", (20, 15)), ("Start", (46, 68)), (typed, (20, 130))):
        screen.blit(font.render(text, True, (20, 20, 20)), place)
    pygame.display.flip()
