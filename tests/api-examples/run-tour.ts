// Goes through all scenarios on both surfaces, and returns what was recorded.
import type { OpenApiDocument } from "../../src/kernel/http/openapi/document.ts";
import type { RecordedExamples } from "../../src/kernel/http/openapi/examples.ts";
import { createClient } from "../support/client.ts";
import { member } from "../support/members.ts";
import { accounts, firstAdmin } from "./scenarios/accounts.ts";
import { agents } from "./scenarios/agents.ts";
import { clients } from "./scenarios/clients.ts";
import { internal } from "./scenarios/internal.ts";
import { models } from "./scenarios/models.ts";
import { money } from "./scenarios/money.ts";
import { operation } from "./scenarios/operation.ts";
import { reach } from "./scenarios/reach.ts";
import { correctSchedules } from "./schedule-times.ts";
import { createTour, type Side } from "./tour.ts";
import { openWorld } from "./world.ts";

const SCENARIOS = { accounts, agents, reach, clients, money, models, operation, internal };

export interface TourResult {
  documents: Record<Side, OpenApiDocument>;
  recorded: Record<Side, RecordedExamples>;
  refused: string[];
  /** Scenarios that broke off, with the reason. */
  broken: string[];
}

/** @param program see `openWorld` */
export async function runTour(program?: Parameters<typeof openWorld>[0]): Promise<TourResult> {
  await using world = await openWorld(program);
  const { berth } = world;
  const documentOf = async (side: Side) =>
    (await (await fetch(`${berth[side]}/swagger/json`)).json()) as OpenApiDocument;
  const documents = { web: await documentOf("web"), backend: await documentOf("backend") };
  const recorded: Record<Side, RecordedExamples> = { web: {}, backend: {} };
  const refused: string[] = [];
  const broken: string[] = [];
  for (const side of ["web", "backend"] as const) {
    const tour = createTour(side, berth, createClient(berth), documents, recorded);
    if (side === "web") await firstAdmin(tour);
    tour.owner = await member(berth, "enterprise");
    for (const [name, run] of Object.entries(SCENARIOS)) {
      try {
        await run(tour, world);
      } catch (error) {
        broken.push(
          `${side}, ${name}: ${error instanceof Error ? error.stack || `${error.name}: ${error.message}` : error}`,
        );
      }
    }
    refused.push(...tour.refused);
    await correctSchedules(recorded[side]);
  }
  return { documents, recorded, refused, broken };
}
