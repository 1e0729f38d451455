// Lists the models that an agent chooses from. Without the database's library, since the command line needs the list, too.

/** The operator's two models, and the one that the agent's configuration names. */
export const MODEL_CHOICES = ["model_a", "model_b", "custom"] as const;
