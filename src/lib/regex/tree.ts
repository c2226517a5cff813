/** A pattern that is not offered, with the reason. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

/** A set of characters. */
export interface CharacterClass {
  /** By the code of a character that is one byte: 1 if it is taken. */
  readonly bytes: Uint8Array;
  /** Asked for every other code point. */
  readonly takesOther: (code: number) => boolean;
}

/** What holds at a place between two characters. */
export type Place = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordEdge' | 'noWordEdge';

export type Tree =
  | {
      readonly kind: 'take';
      readonly class: CharacterClass;
      /** The only character that it takes. */ readonly only?: string;
    }
  | { readonly kind: 'at'; readonly place: Place }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Tree[] }
  | {
      readonly kind: 'repeat';
      readonly of: Tree;
      readonly least: number;
      readonly most: number;
      readonly isLazy: boolean;
    }
  /** `number` counts from 1. */
  | { readonly kind: 'group'; readonly of: Tree; readonly number: number };
