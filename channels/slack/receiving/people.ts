// Looks up the names and languages of people, which Slack's events lack, and remembers those that wrote last.
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import type { Binding } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import { asBot } from "../bot.ts";
import { SlackRefusal } from "../errors.ts";
import type { WebApi } from "../web-api.ts";

export interface Person {
  name: string;
  /** As Slack names it, such as `de-DE`. */
  locale?: string;
}

export interface People {
  /** Never rejects: without an answer in time the person is named by the id. */
  find(binding: Binding, user: string, signal: AbortSignal): Promise<Person>;
}

const MAX_PEOPLE = 4_096;
/** A message is confirmed within 3 s, else Slack sends it again. */
const TIMEOUT_MS = 2_000;

export function createPeople(api: WebApi): People {
  const known = createBoundedMap<Person>(MAX_PEOPLE);

  async function ask(binding: Binding, user: string, signal: AbortSignal): Promise<Person> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await api.call(asBot(binding), "users.info", { user, include_locale: true }, limited);
    const { profile, real_name: realName, name, locale } = isObject(answer.user) ? answer.user : {};
    const { display_name: displayName } = isObject(profile) ? profile : {};
    const shown = [displayName, realName, name].find((text) => typeof text === "string" && text.trim() !== "");
    return {
      name: typeof shown === "string" ? shown : user,
      ...(typeof locale === "string" ? { locale: locale.slice(0, 35) } : {}),
    };
  }

  return {
    async find(binding, user, signal) {
      const key = `${binding.bot.id} ${user}`;
      const person = known.get(key);
      if (person) return person;
      try {
        const found = await ask(binding, user, signal);
        known.set(key, found);
        return found;
      } catch (error) {
        // A refusal stays the same; a platform that is busy or down is asked again.
        if (error instanceof SlackRefusal) known.set(key, { name: user });
        return { name: user };
      }
    },
  };
}
