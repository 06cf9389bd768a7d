import { env } from "node:process";
import fc from "fast-check";

// A change is judged by the same inputs each time. `FAST_CHECK_SEED=7 npm test` tries others.
fc.configureGlobal({ seed: Number(env["FAST_CHECK_SEED"] ?? 20_261_125) });
