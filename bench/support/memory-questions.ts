// A small set of conversations and questions of our own, in the kinds of questions of LongMemEval (Wu et al. 2024) and LoCoMo (Maharana et al. 2024).

interface Conversation {
  /** Facts that the agent notes by its tool while it talks. */
  noted: readonly string[];
  /** What the model says about the conversation when it has ended. */
  ending: string;
}

const ended = (...facts: readonly string[]) => `They talked.\nFACTS\n${facts.join("\n")}`;

export const CONVERSATIONS: readonly Conversation[] = [
  {
    noted: ["Ada is allergic to peanuts."],
    ending: ended(
      "user: Ada is allergic to peanuts.",
      "user: Ada works as a nurse at the harbour clinic.",
      "user: Ada prefers tea without sugar.",
    ),
  },
  {
    noted: ["Ada's daughter is called Mia."],
    ending: ended("person: Ada's daughter Mia starts school in September.", "user: Ada drives a red van called Rosi."),
  },
  {
    noted: [],
    ending: ended(
      "world: The agent recommended the film The Third Man.",
      "user: Ada liked the recommended restaurant Zum Anker.",
      "user: Ada runs ten kilometres every Sunday.",
    ),
  },
  {
    noted: ["Ada lives in Graz."],
    ending: ended("user: Ada moved from Graz to Linz in May 2026.", "user: Ada pays 900 euros of rent in Linz."),
  },
  {
    noted: ["Ada marries Tom on 12 June 2027."],
    ending: ended(
      "user: Ada marries Tom on 12 June 2027.",
      "person: Tom plays the cello in an orchestra.",
      "person: Tom's manager is called Irene.",
    ),
  },
  {
    noted: [],
    ending: ended(
      "user: Ada travelled to Lisbon in March 2026.",
      "user: Ada travelled to Oslo in August 2026.",
      "user: Ada wants her room at nineteen degrees.",
    ),
  },
  {
    noted: ["Ada's cat is called Bilbo."],
    ending: ended("user: Ada's cat Bilbo needs a tablet each evening.", "person: Doctor Hale treats the cat Bilbo."),
  },
];

interface Question {
  kind: string;
  question: string;
  /** What the fact that answers it contains. */
  answer: string;
}

export const QUESTIONS: readonly Question[] = [
  { kind: "single session, user", question: "What is Ada's profession?", answer: "nurse" },
  { kind: "single session, user", question: "Which food makes Ada sick?", answer: "peanuts" },
  { kind: "single session, user", question: "What is the name of Ada's car?", answer: "Rosi" },
  { kind: "single session, user", question: "How much is the price of her flat?", answer: "900 euros" },
  { kind: "single session, assistant", question: "Which movie did you recommend?", answer: "The Third Man" },
  { kind: "single session, assistant", question: "What was the name of the restaurant?", answer: "Zum Anker" },
  { kind: "single session, preference", question: "How does Ada like her tea?", answer: "without sugar" },
  { kind: "single session, preference", question: "How warm should her room be?", answer: "nineteen" },
  { kind: "single session, preference", question: "Which exercise does she do?", answer: "ten kilometres" },
  { kind: "multi-session", question: "Which vacation journeys has Ada made?", answer: "Lisbon" },
  { kind: "multi-session", question: "Which vacation journeys has Ada made?", answer: "Oslo" },
  { kind: "multi-session", question: "Who is the physician of her pet?", answer: "Doctor Hale" },
  { kind: "multi-session", question: "What does her future husband play?", answer: "cello" },
  { kind: "knowledge update", question: "Where does Ada live now?", answer: "Linz" },
  { kind: "knowledge update", question: "To which city did Ada move her home?", answer: "Linz in May" },
  { kind: "temporal reasoning", question: "When is Ada's wedding?", answer: "12 June 2027" },
  { kind: "temporal reasoning", question: "When does her child begin school?", answer: "September" },
  { kind: "temporal reasoning", question: "When must the cat Bilbo take his tablet?", answer: "each evening" },
  { kind: "single hop", question: "What is the cat called?", answer: "Bilbo" },
  { kind: "single hop", question: "What is her kid's name?", answer: "Mia" },
  { kind: "multi-hop", question: "Who is the boss of the man whom Ada marries?", answer: "Irene" },
];

const NAMES = "Bob Eve Carl Dora Emil Fritz Gina Hugo Ida Jens Kurt Lea Max Nora Otto Paul Rita Sven Tina Uwe".split(
  " ",
);
const THINGS = [
  "collects stamps from Peru",
  "repairs old radios on Fridays",
  "has a boat called Wanda",
  "is reading about bridges",
  "speaks Danish at weekends",
  "paints the fence green",
  "keeps bees behind the garage",
  "studies maps of the moon",
];

/** Facts that answer none of the questions. */
export const distractors = (): string[] => NAMES.flatMap((name) => THINGS.map((thing) => `${name} ${thing}.`));
