/** A pattern that is not offered, with the reason. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

/** Says whether a character, by its code point, is taken. */
export type CharacterTest = (code: number) => boolean;

/** What holds at a place between two characters. */
export type Place = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordEdge' | 'noWordEdge';

export type Tree =
  | {
      readonly kind: 'take';
      readonly test: CharacterTest;
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
