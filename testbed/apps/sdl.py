#!/usr/bin/python3
"""An SDL window, which is on no accessibility bus. Draws its words, and looks at the keyboard and the
mouse 30 times a second, as games do. Logs clicks on its button and the text that Return ends.

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
typed, was_down, clock = "", False, pygame.time.Clock()
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
    down = pygame.mouse.get_pressed()[0]
    if down and not was_down and button.collidepoint(pygame.mouse.get_pos()):
        print("pressed", file=LOG)
    was_down = down
    screen.fill((240, 240, 235))
    pygame.draw.rect(screen, (190, 200, 220), button)
    for text, place in (("Total 42", (20, 15)), ("Start", (46, 68)), (typed, (20, 130))):
        screen.blit(font.render(text, True, (20, 20, 20)), place)
    pygame.display.flip()
    clock.tick(30)
