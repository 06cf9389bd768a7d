#!/usr/bin/env node
// Runs the program of the package for this machine, which npm has installed beside this one.
"use strict";
const { spawn } = require("node:child_process");

const name = `cms-server-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "cms-server.exe" : "cms-server";
let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  console.error(`The package ${name} is not installed. Either there is no program for this machine, or npm was told to leave`);
  console.error("optional dependencies out (--omit=optional).");
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Requests in flight end before the program does, so this waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
