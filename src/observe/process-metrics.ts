import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";

/** What Node programs tell of themselves: memory, event loop, garbage collection. Can be sent to another process. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** Begins to measure this process, one of several, told apart by the label `worker`. */
export function measureProcess(worker: string): () => Promise<ProcessMetrics> {
  const register = new Registry();
  collectDefaultMetrics({ register, labels: { worker } });
  return async () => {
    const metrics = await register.getMetricsAsJSON();
    // prom-client would leave out or mix what it takes for one number of all processes; the label keeps them apart.
    return metrics.map((metric) => ({ ...metric, aggregator: "sum" as const }));
  };
}

/** The metrics of several processes in the text format of Prometheus. */
export async function processesText(processes: readonly ProcessMetrics[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
