// Defines the facts that an agent remembers, and what can be done with them.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Audience } from "../skill.ts";
import type { Taint } from "../taint.ts";

/** What a fact is about. */
export type FactKind = "owner" | "person" | "world";
export type FactSource = "agent" | "compaction" | "owner";

export interface Fact {
  id: string;
  content: string;
  source: FactSource;
  /** `platform:peer` of the conversation it belongs to; "" for the owner's. */
  circle: string;
  /** Of the context in which it was stored. */
  taint: Taint;
  kind: FactKind;
  /** The turn in which it was noted; null where there was none. */
  turnId: string | null;
  /** The owner wants it in every prompt of its circle. */
  pinned: boolean;
  /** When an agent looked it up last. */
  usedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** The pinned and the newest facts of a circle: pinned ones first, then newest first. */
export interface RecentFacts {
  facts: readonly Fact[];
  /** Whether these are all facts of the circle. */
  complete: boolean;
}

export interface NewFact {
  agentId: string;
  content: string;
  source: FactSource;
  /** Default: the owner. */
  audience?: Audience;
  /** Of the context in which it is stored. Default: none. */
  taint?: Taint;
  /** Default: the person who knows it. Of the owner only in the owner's own circle. */
  kind?: FactKind | undefined;
  turnId?: string | undefined;
}

export interface MemoryStore {
  /** Stores a fact; a known one becomes the newest, and has the lower taint of both. Throws 400 `EMPTY_FACT`, 400 `FACT_TOO_LONG`, 409 `MEMORY_FULL`. */
  remember(fact: NewFact): Promise<{ id: string; known: boolean }>;
  /** The same as statements for a larger batch; they do nothing for a fact that can't be stored. */
  rememberStatements(fact: NewFact): Statement[];
  /** Facts that share words with `text`, best match first. */
  search(agentId: string, text: string, limit: number, audience?: Audience): Promise<Fact[]>;
  /**
   * Facts that share words with `text`, or are near to it by meaning where an embedding model is configured; best match first.
   * @param userId pays for the vector of the text
   */
  recall(agentId: string, userId: string, text: string, limit: number, audience?: Audience): Promise<Fact[]>;
  /** The statement that has the vectors of changed facts made; none without an embedding model. */
  embedStatements(agentId: string): Statement[];
  /** Records that an agent has looked these facts up. */
  markUsed(ids: readonly string[]): Promise<void>;
  /** The agent is gone: if it comes back from another cell, it may know something else. */
  forgetAgent(agentId: string): void;
  /** Bytes held in memory for this agent. */
  memoryBytes(agentId: string): number;
  /** The newest facts, from a bounded cache. */
  recentFacts(agentId: string, audience?: Audience): Promise<RecentFacts>;
  /** The facts of all circles, newest first, for the owner. */
  list(agentId: string, page?: { limit?: number; offset?: number }): Promise<Fact[]>;
  /** Deletes a fact; false when this audience has no such fact. */
  forget(agentId: string, id: string, audience?: Audience): Promise<boolean>;
  /** Forgets what the caches hold of an agent; call it after its facts were changed elsewhere. */
  invalidate(agentId: string): void;
  /** Deletes all facts of an agent, as part of a batch. */
  forgetAllStatement(agentId: string): Statement;
}
