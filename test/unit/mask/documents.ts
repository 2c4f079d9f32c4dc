import fc from "fast-check";

/** A piece of a document: as it is sent, and in a spelling that JSON.parse reads alike. */
export interface Piece {
  readonly wire: string;
  readonly plain: string;
  /** Of an object: its members in written order. */
  readonly members?: readonly Member[];
}

interface Member {
  readonly name: string;
  readonly value: Piece;
}

const same = (text: string): Piece => ({ wire: text, plain: text });

export const NAMES = [
  "mask_sample",
  "instance_config",
  "_ng_failure_class",
  "_ng_no_persist",
  "failure_kind",
  "failure_reason",
  "_ng_failure_judge_error",
  "_ng_failure_message",
  "judge_response",
  "judge_generation_error",
  "error",
] as const;

const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["/", "\\/"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

const mustEscape = (unit: string): boolean => /["\\\p{Cc}\p{Cs}]/u.test(unit) && unit !== "\x7f";

function unicodeEscape(unit: string, upper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${upper ? hex.toUpperCase() : hex}`;
}

/** One way to write a text as a JSON string: `styles` picks a spelling for each character. */
function spell(text: string, styles: readonly number[]): string {
  let json = "";
  let n = 0;
  for (const character of text) {
    const style = styles[n++ % styles.length] ?? 0;
    const short = SHORT_ESCAPES.get(character);
    if (style >= 6 || (mustEscape(character) && short === undefined)) {
      for (let at = 0; at < character.length; at++) {
        json += unicodeEscape(character.charAt(at), style === 7);
      }
    } else if (short !== undefined && (style >= 3 || mustEscape(character))) {
      json += short;
    } else {
      json += character;
    }
  }
  return `"${json}"`;
}

const rawStyles = fc.constant([0]);
const styles = fc.oneof(rawStyles, fc.array(fc.nat(7), { minLength: 1, maxLength: 12 }));

const FORGERIES = [
  '"mask_sample":true',
  '","mask_sample":true,"x":"',
  '"}],"mask_sample":true}',
  '{"instance_config":{"mask_sample":true},"_ng_failure_class":"x","_ng_no_persist":1}',
  'mask_sample\\":true',
  "\\",
  "\\\\",
  '\\"',
  'x\\\\"',
];

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "}", "{", ":", ",", "é", "漢", "😀", "\ud83d", "a"),
  }),
  fc.constantFrom(...FORGERIES, ...NAMES, "", "judge_failed"),
);

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<string>(...NAMES) },
  { weight: 2, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "Mask_sample",
      "mask_sample ",
    ),
  },
);

const space = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 5 }),
  },
);

const NUMBERS = [
  "0",
  "-0",
  "-0.0",
  "0e5",
  "0.000",
  "1",
  "-1.5E+3",
  "1e-400",
  "1e400",
  "5e-324",
  "12345678901234567890",
  "0.0000001",
];

const scalar: fc.Arbitrary<Piece> = fc.oneof(
  fc.constantFrom(...["true", "false", "null", ...NUMBERS].map(same), {
    wire: "NaN",
    plain: "1",
  }),
  fc.constantFrom({ wire: "Infinity", plain: "1" }, { wire: "-Infinity", plain: "1" }),
  fc.tuple(text, styles).map(([value, how]) => same(spell(value, how))),
);

const padded = (before: string, { wire, plain }: Piece, after: string): Piece => ({
  wire: before + wire + after,
  plain: before + plain + after,
});

function enclose(open: string, items: readonly Piece[], close: string, empty: string): Piece {
  const join = (pieces: readonly string[]): string =>
    open + (pieces.length === 0 ? empty : pieces.join(",")) + close;
  return {
    wire: join(items.map(({ wire }) => wire)),
    plain: join(items.map(({ plain }) => plain)),
  };
}

const { object, value } = fc.letrec<{ value: Piece; array: Piece; object: Piece }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: tie("array") },
    { weight: 2, arbitrary: tie("object") },
  ),
  array: fc
    .tuple(fc.array(fc.tuple(space, tie("value"), space), { maxLength: 3 }), space)
    .map(([items, empty]) =>
      enclose(
        "[",
        items.map((item) => padded(...item)),
        "]",
        empty,
      ),
    ),
  object: fc
    .tuple(
      fc.array(fc.tuple(space, name, styles, space, space, tie("value"), space), { maxLength: 6 }),
      space,
    )
    .map(([entries, empty]) => {
      const items = entries.map(([before, key, how, middle, gap, item, after]) =>
        padded(`${before}${spell(key, how)}${middle}:${gap}`, item, after),
      );
      const members = entries.map(([, key, , , , item]) => ({ name: key, value: item }));
      return { ...enclose("{", items, "}", empty), members };
    }),
}));

/** Objects, with white space around them. */
export const answers: fc.Arbitrary<Piece> = fc
  .tuple(space, object, space)
  .map(([before, piece, after]) => ({ ...piece, ...padded(before, piece, after) }));

/** Documents of any kind. */
export const documents: fc.Arbitrary<Piece> = fc.oneof(answers, value);

/** Strings, as JSON. */
export const strings: fc.Arbitrary<string> = fc
  .tuple(text, styles)
  .map(([content, how]) => spell(content, how));

/** Ways to cut a body: at the given offsets, or into pieces of one size. */
export const cuts: fc.Arbitrary<(body: Buffer) => Buffer[]> = fc
  .oneof(
    fc.array(fc.nat(400), { maxLength: 12 }).map((offsets) => ({ offsets, size: 0 })),
    fc.integer({ min: 1, max: 9 }).map((size) => ({ offsets: [], size })),
  )
  .map(({ offsets, size }) => (body) => {
    const regular =
      size > 0 ? Array.from({ length: Math.ceil(body.length / size) }, (_, n) => n * size) : [];
    const borders = [...offsets, ...regular, 0, body.length]
      .map((offset) => Math.min(offset, body.length))
      .toSorted((a, b) => a - b);
    return borders.slice(1).map((end, n) => body.subarray(borders[n], end));
  });

/** The last member with a name, as it was written. */
export function lastMember(piece: Piece | undefined, wanted: string): Piece | undefined {
  return piece?.members?.findLast((candidate) => candidate.name === wanted)?.value;
}
