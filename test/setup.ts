import fc from "fast-check";

// The same cases in every run, so that a pull request fails for what it changed; nightly runs give a fresh seed, which fast-check prints with a failure.
fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 20_261_130) });
