import fc from "fast-check";

const seconds = Number(process.env["FUZZ_SECONDS"] ?? 10);

/** The seed of this run: the one that was asked for, or a fresh one. */
export const SEED = Number(process.env["FC_SEED"] ?? Date.now() % 2_147_483_647);

console.log(`fuzz: FC_SEED=${SEED}, FUZZ_SECONDS=${seconds}`);

/** As many cases as the time allows; a case that fails is made smaller and printed with its seed. */
export const BUDGET: fc.Parameters = {
  seed: SEED,
  numRuns: 1_000_000_000,
  interruptAfterTimeLimit: seconds * 1000,
  markInterruptAsFailure: false,
};

/** Runs a property as long as the budget lasts, and prints how many cases there were. */
export async function fuzz(
  name: string,
  property: fc.IRawProperty<never> | fc.IAsyncProperty<never> | fc.IProperty<never>,
): Promise<void> {
  const details = await fc.check(property as fc.IAsyncProperty<never>, BUDGET);
  console.log(`fuzz: ${name}: ${details.numRuns} cases`);
  if (details.failed) throw new Error(fc.defaultReportMessage(details) ?? "failed");
  if (details.numRuns === 0) throw new Error("no case ran");
}
