import type { ReactNode } from 'react';

import type { Edit } from '../../api/edit.ts';
import type { IconName } from '../../components/icon.tsx';
import type { Settings } from './schema.ts';
import type { ModuleTarget, ModuleView } from './target.ts';

/** Values of a module's form; what is in them is known to its kind alone. */
export type Values = Readonly<Record<string, unknown>>;

export type ModuleEdit = Edit<ModuleTarget['document'], Values>;

/** How a module is shown and filled in. */
export interface ModuleKind {
  readonly icon: IconName;
  readonly title: string;
  /** In the list of routes. */
  readonly badge: string;
  /** Words for the effect on traffic while it is not set. */
  readonly whenNotSet: string;
  readonly errors: Readonly<Record<number, string>>;
  /** Switching it on can refuse people: they are looked at first. */
  readonly isChecked?: boolean;
  readonly toValues: (view: ModuleView | null) => Values;
  readonly toSettings: (values: Values) => Promise<Settings>;
  readonly Summary: (props: { readonly view: ModuleView }) => ReactNode;
  readonly Fields: (props: { readonly edit: ModuleEdit; readonly document: ModuleTarget['document'] }) => ReactNode;
}
