#!/usr/bin/env node
// Starts the program of the optional package for this platform, with the same streams, arguments and exit code.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const platform = `${process.platform}-${process.arch}`;
// macOS keeps a permission for an app with its own signature.
const files = { darwin: "Deskline.app/Contents/MacOS/deskline", win32: "deskline.exe" };
const file = files[process.platform] ?? "deskline";

function fail(why) {
  process.stderr.write(`deskline: ${why}\n`);
  process.exit(1);
}

function program() {
  try {
    return require.resolve(`@deskline/${platform}/${file}`);
  } catch {
    return fail(
      `the package @deskline/${platform} is not installed. If Deskline has one for ${platform}, ` +
        "npm was told to leave optional packages out (--omit=optional): install deskline again without that",
    );
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  const why = {
    "linux ENOENT": "the program needs glibc 2.17 or later, which this system lacks (Alpine?)",
    "win32 UNKNOWN": "Windows did not start the program. Smart App Control stops those without a signature that it knows",
  };
  fail(why[`${process.platform} ${error.code}`] ?? error.message);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + os.constants.signals[signal]));
