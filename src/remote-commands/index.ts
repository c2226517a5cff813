import type { Command } from 'commander';

import type { Host } from '../command-line/host.ts';
import { addCertificateCommands } from './add-certificate-commands.ts';
import { addConfigurationCommands } from './add-configuration-commands.ts';
import { addProfileCommands } from './add-profile-commands.ts';
import { addTrafficCommands } from './add-traffic-commands.ts';
import { addDerivedCommands } from './derived/add-derived-commands.ts';
import type { OpenApiDocument } from './derived/document.ts';
import { addImportCommand } from './import/add-import-command.ts';

/** Commands that talk to a server. What they do is loaded when one is called. */
export function addRemoteCommands(program: Command, document: OpenApiDocument, host: Host): void {
  addOwnCommands(program, host);
  addDerivedCommands(program, document, host);
}

/** The same without those that are derived from the operations of the API. */
export function addOwnCommands(program: Command, host: Host): void {
  addConfigurationCommands(program, host);
  addImportCommand(program, host);
  addProfileCommands(program, host);
  addTrafficCommands(program, host);
  addCertificateCommands(program, host);
}
