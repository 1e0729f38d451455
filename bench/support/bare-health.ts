// The smallest server that a compiled Bun binary can be: the baseline of start time and memory.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2] ?? 0),
  fetch: () => Response.json({ status: "ok" }),
});
