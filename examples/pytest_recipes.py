"""A pytest plugin: each NAME.recipe.toml is a test on a private desktop of its own.

    pytest -p pytest_recipes DIR        with examples/ on PYTHONPATH
"""

import os
import subprocess

import pytest


def pytest_collect_file(parent, file_path):
    if file_path.name.endswith(".recipe.toml"):
        return RecipeFile.from_parent(parent, path=file_path)


class RecipeFile(pytest.File):
    def collect(self):
        yield Recipe.from_parent(self, name=self.path.name.removesuffix(".recipe.toml"))


class Recipe(pytest.Item):
    def runtest(self):
        program = os.environ.get("DESKLINE", "deskline")
        command = [program, "run", str(self.path), "--desktop", "private"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Stopped(done.stdout + done.stderr)

    def reportinfo(self):
        return self.path, None, self.name

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance(Stopped) else super().repr_failure(excinfo)


class Stopped(Exception):
    """What the recipe expected, what it saw, and where the picture is."""
