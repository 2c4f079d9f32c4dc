/** The arithmetic mean of the numbers that were added. */
export class Mean {
  #sum = 0;
  #count = 0;

  /** Adds a number; `undefined` is passed over. */
  add(value: number | undefined): void {
    if (value === undefined) return;
    this.#sum += value;
    this.#count++;
  }

  /** Adds everything that another mean was made of. */
  merge(other: Mean): void {
    this.#sum += other.#sum;
    this.#count += other.#count;
  }

  /** Undefined when nothing was added. */
  value(): number | undefined {
    return this.#count === 0 ? undefined : this.#sum / this.#count;
  }
}
