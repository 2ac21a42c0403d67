// A client on an official TypeScript SDK of MCP, over stdio: carries out calls that it reads, a JSON
// line each. A line is [tool, arguments, milliseconds], of which the last is when it gives up.
//
//   node client.mjs FOLDER PACKAGE PROGRAM ARGUMENTS…    the SDK's package, in FOLDER/node_modules
//
// It answers with {"protocol", "tools"}, and each call with {"error", "text"}.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, name, command, ...args] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const old = name.endsWith("/sdk");
const { Client } = require(old ? `${name}/client/index.js` : name);
const { StdioClientTransport } = require(old ? `${name}/client/stdio.js` : `${name}/stdio`);

const say = (value) => console.log(JSON.stringify(value));
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
const client = new Client({ name: "a test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
say({ tools: tools.length, instructions: client.getInstructions() ?? "" });
for await (const line of createInterface({ input: process.stdin })) {
  const [tool, values, timeout] = JSON.parse(line);
  const request = { name: tool, arguments: values };
  const options = timeout === undefined ? {} : { timeout };
  try {
    const result = await (old ? client.callTool(request, undefined, options) : client.callTool(request, options));
    const text = result.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    say({ error: result.isError === true, text });
  } catch (error) {
    say({ error: true, text: String(error) });
  }
}
await client.close();
