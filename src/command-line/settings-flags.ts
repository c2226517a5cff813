import type { Command } from 'commander';

import { describeSettings } from '../config/config.ts';

/** A flag for each setting of the service. */
export function addSettingsFlags(command: Command): Command {
  for (const { flag, form, help, variable, fallback } of describeSettings()) {
    const value = fallback === '' ? variable : `${variable}, default: ${fallback}`;
    command.option(`${flag} <${form}>`, `${help} (${value})`);
  }
  return command;
}
