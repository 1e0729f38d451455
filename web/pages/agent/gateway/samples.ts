// Programs that can be pasted and run. The token comes from the environment, never from the page.

interface Sample {
  label: string;
  code: (address: string) => string;
}

const typescript = (address: string) => `const token = process.env.BERTH_TOKEN;
const socket = new WebSocket(${JSON.stringify(address)}, ["berth.v1", \`berth.token.\${token}\`]);

socket.onopen = () => socket.send(JSON.stringify({ type: "chat", id: "1", message: "Hello" }));
socket.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.type === "delta") process.stdout.write(frame.text);
  if (frame.type === "reply") socket.close();
};
socket.onclose = ({ code, reason }) => console.log(code, reason);`;

const python = (address: string) => `import asyncio, json, os
import websockets

async def main():
    headers = {"Authorization": f"Bearer {os.environ['BERTH_TOKEN']}"}
    async with websockets.connect(${JSON.stringify(address)}, additional_headers=headers) as socket:
        await socket.send(json.dumps({"type": "chat", "id": "1", "message": "Hello"}))
        async for data in socket:
            frame = json.loads(data)
            if frame["type"] == "reply":
                print(frame["reply"])
                return

asyncio.run(main())`;

const shell = (address: string) =>
  `echo '{"type":"chat","id":"1","message":"Hello"}' |\n  websocat -n -H "Authorization: Bearer $BERTH_TOKEN" ${address}`;

export const SAMPLES = {
  typescript: { label: "TypeScript", code: typescript },
  python: { label: "Python", code: python },
  shell: { label: "Shell", code: shell },
} satisfies Record<string, Sample>;

export const isSample = (name: string): name is keyof typeof SAMPLES => Object.hasOwn(SAMPLES, name);
