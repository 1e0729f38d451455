// Documents streams of server-sent events, and sockets, by the schema of one event or frame.
import { type TSchema, t } from "elysia";
import { pascal } from "./operation-id.ts";

/** A schema that is made when the document is: starts make none of its objects. */
export const schemaWhenAsked = (make: () => object) => ({ toJSON: make });

/** The data of each kind of event, by the event's name. */
export type EventData = Readonly<Record<string, TSchema>>;

/**
 * The schema of one event: `data` is sent as JSON. OpenAPI 3.1 has no form for a sequence of events; tools read the schema of a
 * `text/event-stream` as that of one event.
 *
 * The schema is made when the document is.
 *
 * @param title such as `TurnEvent`; that of `delta` is then `TurnDeltaEvent`
 */
export const eventSchema = (title: string, description: string, events: () => EventData) =>
  schemaWhenAsked(() => makeEventSchema(title, description, events()));

function makeEventSchema(title: string, description: string, events: EventData) {
  const stem = title.replace(/Event$/, "");
  const kinds = Object.entries(events).map(([event, data]) =>
    t.Object(
      {
        id: t.Optional(t.String({ description: "Where to resume: the header `Last-Event-ID`" })),
        event: t.Literal(event),
        data,
      },
      // An event with the name of its stream tells the state.
      { title: `${stem}${pascal(event) === stem ? "State" : pascal(event)}Event` },
    ),
  );
  const [only, ...others] = kinds;
  return only && others.length === 0 ? { ...only, title, description } : { title, description, oneOf: kinds };
}

/** The schema of one event of a protocol of others, whose own documents say what is in `data`. */
export const passedEvent = (title: string, description: string) => ({
  title,
  description,
  type: "object" as const,
  required: ["data"],
  properties: {
    event: { type: "string" as const, description: "Its name, if it has one" },
    data: { description: "Sent as JSON, if it is no text" },
  },
});

/** One entry of a response's `content`. */
export const eventStream = (schema: object) => ({ "text/event-stream": { schema } });

/** A route's response that is JSON, or a stream if the caller asks for one. It is not validated. */
export const documentReplyOrStream = (reply: TSchema, events: object, description: string) => ({
  responses: {
    200: {
      description: `${description}; with \`accept: text/event-stream\` its events as they happen`,
      content: { "application/json": { schema: reply }, ...eventStream(events) },
    },
  },
});

/** The schema of frames of a socket: objects that differ in `type`. */
export const frameSchema = (title: string, description: string, frames: readonly TSchema[]) => ({
  title,
  description,
  oneOf: frames,
});
