// A client on an official TypeScript SDK of MCP, over stdio or HTTP: carries out calls that it reads,
// a JSON line each. A line is [tool, arguments, milliseconds, answer]: the third is when it gives up,
// the last (once, always, never or cancel) its person's answer to a question of the call.
//
//   node client.mjs FOLDER PACKAGE PROGRAM ARGUMENTS…    the SDK's package, in FOLDER/node_modules
//   node client.mjs FOLDER PACKAGE URL                   (the token is in DESKLINE_TOKEN)
//
// The newer package speaks the newer generation of the protocol. It answers with {"protocol",
// "tools", "instructions"}, and each call with {"error", "text", "asked"}, the questions.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, name, command, ...args] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const old = name.endsWith("/sdk");
const { Client } = require(old ? `${name}/client/index.js` : name);
const question = old ? require(`${name}/types.js`).ElicitRequestSchema : "elicitation/create";
const { StdioClientTransport } = require(old ? `${name}/client/stdio.js` : `${name}/stdio`);
const { StreamableHTTPClientTransport } = require(old ? `${name}/client/streamableHttp.js` : name);

const say = (value) => console.log(JSON.stringify(value));
const headers = { Authorization: `Bearer ${process.env.DESKLINE_TOKEN}` };
const transport = command.startsWith("http:")
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
const newer = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const capabilities = { elicitation: { form: {} } };
const client = new Client({ name: "a test", version: "1" }, { capabilities, ...(old ? {} : newer) });
let asked = [];
let answer;
client.setRequestHandler(question, ({ params }) => {
  asked.push(params.message);
  return answer === "cancel" ? { action: "cancel" } : { action: "accept", content: { answer } };
});
await client.connect(transport);
const { tools } = await client.listTools();
const protocol = old ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
say({ protocol, tools: tools.length, instructions: client.getInstructions() ?? "" });
for await (const line of createInterface({ input: process.stdin })) {
  const [tool, values, timeout, person] = JSON.parse(line);
  [asked, answer] = [[], person];
  const request = { name: tool, arguments: values };
  const options = timeout ? { timeout } : {};
  try {
    const result = await (old ? client.callTool(request, undefined, options) : client.callTool(request, options));
    const text = result.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    say({ error: result.isError === true, text, asked });
  } catch (error) {
    say({ error: true, text: String(error), asked });
  }
}
await client.close();
