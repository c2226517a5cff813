import type { Document } from './journal.ts';
import { oneLine } from '../../lib/terminal-text.ts';

/** Counts what an import has done, and keeps what its user has to know. */
export class Report {
  readonly #taken = new Map<string, number>();
  readonly #notTaken: string[] = [];
  readonly #notes: string[] = [];
  #there = 0;
  #renamed = 0;

  take(noun: string, isRenamed: boolean): void {
    this.#taken.set(noun, (this.#taken.get(noun) ?? 0) + 1);
    if (isRenamed) this.#renamed += 1;
  }

  leave(): void {
    this.#there += 1;
  }

  refuse(noun: string, document: Document, why: string): void {
    this.#notTaken.push(`${noun}: ${nameOf(document)}: ${why}`);
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  get isComplete(): boolean {
    return this.#notTaken.length === 0;
  }

  lines(): readonly string[] {
    const taken = [...this.#taken].map(([noun, count]) => `${count} ${noun}`).join(', ') || 'nothing';
    return [
      `Taken: ${taken}.`,
      ...(this.#there === 0 ? [] : [`${this.#there} were here already, by their ids, and are left as they are.`]),
      ...(this.#renamed === 0 ? [] : [`${this.#renamed} have new ids, because theirs are taken here.`]),
      ...section('Not taken:', this.#notTaken),
      ...section('Left out:', this.#notes),
    ].map(oneLine);
  }
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** Id, and the text by which its owner knows it. */
export function nameOf(document: Document): string {
  const { id, description, match, domain, name } = document;
  const text = [description, match, domain, name].find((each) => typeof each === 'string' && each !== '');
  return typeof text === 'string' ? `${id} (${text})` : id;
}
