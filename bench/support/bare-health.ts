// The least that a compiled Bun binary can be and still answer: the baseline of start and memory.

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2] ?? 0),
  fetch: () => Response.json({ status: "ok" }),
});
