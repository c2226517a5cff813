import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { CommandFault } from '../exit.ts';
import { readText } from '../read-text.ts';
import { showPlace } from './entry.ts';
import type { FileEntry } from './entry.ts';
import { parseFile } from './parse-file.ts';
import type { Lookup } from './variables.ts';

const extensions = /\.(?:ya?ml|json)$/;
/** Kinds whose entries share their names. */
const backends = new Set([
  'static_backends',
  'tunnel_group_backends',
  'http_response_backends',
  'weighted_backends',
  'failover_backends',
]);

/** Files that are named, and those of folders that are, with the folders in them. */
export async function findFiles(paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const facts = await stat(path).catch((error: Error) => {
      throw new CommandFault(`${path} cannot be read: ${error.message}`);
    });
    if (!facts.isDirectory()) files.push(path);
    else for (const file of await filesBelow(path)) files.push(file);
  }
  // Without this, pruning by a folder that was not mounted would delete everything.
  if (files.length === 0)
    throw new CommandFault(`no files: ${paths.join(', ')} has none that end with .yaml, .yml or .json`);
  return [...new Set(files)];
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => !entry.isDirectory() && extensions.test(entry.name) && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  for (const path of paths) {
    const facts = await stat(path).catch((error: Error) => {
      throw new CommandFault(`${path} cannot be read: ${error.message}`);
    });
    // Whoever names a pipe wants it read; in a folder, it would be waited for without end.
    if (!facts.isFile() && !facts.isDirectory()) throw new CommandFault(`${path} is no file but a pipe or a device`);
  }
  return paths;
}

/** The entries of all files together. */
export async function readFiles(paths: readonly string[], lookup: Lookup): Promise<readonly FileEntry[]> {
  const entries: FileEntry[] = [];
  const faults: string[] = [];
  for (const file of await findFiles(paths)) {
    const parsed = parseFile(file, await readText(file), lookup);
    for (const entry of parsed.entries) entries.push(entry);
    for (const fault of parsed.faults) faults.push(fault);
  }
  for (const fault of namedTwice(entries)) faults.push(fault);
  if (faults.length > 0) throw new CommandFault(faults.join('\n'));
  return entries;
}

function namedTwice(entries: readonly FileEntry[]): readonly string[] {
  const seen = new Map<string, FileEntry>();
  const faults: string[] = [];
  for (const entry of entries) {
    const key = `${backends.has(entry.kind) ? 'backend' : entry.kind} ${entry.name}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, entry);
    else
      faults.push(
        `${showPlace(entry.place)}: ${entry.kind} "${entry.name}" is declared twice; the first time at ${showPlace(first.place)}`,
      );
  }
  return faults;
}
