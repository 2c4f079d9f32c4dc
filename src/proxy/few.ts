/** Lets only so much work go on at once. Of what waits, the smallest goes first: large answers, however many, do not hold up a small one. */
export class Few {
  readonly #most: number;
  readonly #waiting: { readonly size: number; readonly go: () => void }[] = [];
  #going = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Does the work as soon as there is room. */
  async run<T>(size: number, work: () => Promise<T>): Promise<T> {
    if (this.#going < this.#most) this.#going += 1;
    else await new Promise<void>((go) => this.#waiting.push({ size, go }));
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Hands the room on to who waits. */
  #next(): void {
    if (this.#waiting.length === 0) {
      this.#going -= 1;
      return;
    }
    const smallest = Math.min(...this.#waiting.map(({ size }) => size));
    const at = this.#waiting.findIndex(({ size }) => size === smallest);
    this.#waiting.splice(at, 1)[0]!.go();
  }
}
