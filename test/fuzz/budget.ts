import fc from "fast-check";

const seconds = Number(process.env["FUZZ_SECONDS"] ?? 10);

/** The seed of this run: the one that was asked for, or a fresh one. */
const SEED = Number(process.env["FC_SEED"] ?? Date.now() % 2_147_483_647);

console.log(`fuzz: FC_SEED=${SEED}, FUZZ_SECONDS=${seconds}`);

/** Some cases, all of which come to an end: one that is still running after so long, in milliseconds, fails. One that fails is made smaller and printed with its seed. */
const BATCH: fc.Parameters = {
  numRuns: 200,
  timeout: 10_000,
  interruptAfterTimeLimit: 30_000,
  markInterruptAsFailure: true,
};

/** Runs a property as long as the budget lasts, and prints how many cases there were. */
export async function fuzz(
  name: string,
  property: fc.IRawProperty<never> | fc.IAsyncProperty<never> | fc.IProperty<never>,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  let cases = 0;
  for (let seed = SEED; performance.now() < end; seed += 1) {
    const details = await fc.check(property as fc.IAsyncProperty<never>, { ...BATCH, seed });
    cases += details.numRuns;
    if (details.failed) throw new Error(fc.defaultReportMessage(details) ?? "failed");
  }
  console.log(`fuzz: ${name}: ${cases} cases`);
  if (cases === 0) throw new Error("no case ran");
}
