import { Histogram } from 'prom-client';

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds, rising. */
  readonly buckets: readonly number[];
}

/**
 * A histogram without labels that counts by plain additions. A histogram of `prom-client` looks for labels and buckets by their
 * texts, which took one to three of a hundred parts of a request.
 */
export class PlainHistogram extends Histogram {
  readonly #options: HistogramOptions;
  readonly #bounds: readonly number[];
  /** By bucket; the last one has no bound. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(options: HistogramOptions) {
    const { name, help, buckets } = options;
    super({ name, help, buckets: [...buckets], registers: [] });
    this.#options = options;
    this.#bounds = buckets;
    this.#counts = new Float64Array(buckets.length + 1);
  }

  add(value: number): void {
    let at = 0;
    while (at < this.#bounds.length && value > this.#bounds[at]!) at += 1;
    this.#counts[at]! += 1;
    this.#sum += value;
  }

  /** `prom-client` reads a metric by this, for Prometheus as for its own `get`, though its types do not say so. */
  getForPromString() {
    const { name, help } = this.#options;
    const metricName = `${name}_bucket`;
    let count = 0;
    const buckets = Array.from(this.#counts, (each, at) => {
      count += each;
      return { metricName, labels: { le: this.#bounds[at] ?? '+Inf' }, value: count };
    });
    const sums = [
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: [...buckets, ...sums] });
  }
}
