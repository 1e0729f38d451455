// An answer that holds a configuration byte for byte: no serializer would keep key order, `__proto__` and numbers as they came.

/** `{ config, status }` with the text as it is. The text must be valid JSON. */
export const configAnswer = (text: string, status: "ok" | "updated"): Response =>
  new Response(`{"config":${text},"status":"${status}"}`, {
    headers: { "content-type": "application/json;charset=utf-8" },
  });
