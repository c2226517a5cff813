import type { ReactNode } from 'react';

import type { Entry, ListId, Reply } from '../../../client/src/index.ts';
import type { CallError } from '../api/client.ts';
import type { Edit, SaveOptions } from '../api/edit.ts';
import type { PathIds } from '../api/queries.ts';
import type { SessionFacts } from '../api/session.ts';
import type { IconName } from '../components/icon.tsx';
import type { ChoiceFilter, Search } from '../components/list-search.ts';
import type { Fact } from '../components/page.tsx';
import type { Column, Sort } from '../components/table.tsx';

/** Columns of a list, and how it is searched, filtered and ordered. */
export interface Rows<Row> extends Search<Row> {
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly ChoiceFilter<Row>[];
  /** Order when the URL names none; newest first without it. */
  readonly defaultSort?: Sort;
}

export interface RowsProps<Row> {
  readonly render: (rows: Rows<Row>) => ReactNode;
}

/** A list of the API, as a page shows it. */
export interface Listed<Id extends ListId> {
  readonly list: Id;
  /** Ids in the path of a list that belongs to another thing. */
  readonly below?: PathIds;
  /** One and many: "key", "keys". */
  readonly noun: readonly [one: string, many: string];
  readonly icon: IconName;
  readonly filterHint: string;
  /** Said where there is nothing yet: a title, and what the thing is for, in a sentence. */
  readonly whenEmpty: readonly [title: string, text: string];
  readonly footNote?: string;
  /** Where a row leads, if not to its own page. */
  readonly hrefOf?: (row: Entry<Id>) => string;
  /** Shows the list. A component, because columns may need other lists; they have to be the same in every render. */
  readonly Rows: (props: RowsProps<Entry<Id>>) => ReactNode;
}

/** Values of a form by the names of its fields; what is in them is known to the fields alone. */
export type Values = Readonly<Record<string, unknown>>;

export interface InputProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** The server's own words about this field. */
  readonly error: string | undefined;
  /** The whole error, for fields that have parts. */
  readonly callError: CallError | undefined;
}

/** A field of the forms that create and edit a thing. `field` makes one from typed parts. */
export interface FormField<Row> {
  /** Name in the API. */
  readonly name: string;
  /** Value in the form for a new thing. */
  readonly start: (params: URLSearchParams) => unknown;
  readonly from: (row: Row) => unknown;
  /** The value that is sent for it. */
  readonly toBody: (value: unknown, form: 'create' | 'edit') => object;
  /** The one form that has it; both without it. */
  readonly form?: 'create' | 'edit';
  /** True if the browser keeps it nowhere. */
  readonly isSecret?: boolean;
  readonly Input: (props: InputProps<unknown>) => ReactNode;
}

export interface Shown<Row> {
  readonly reply: Reply<Row>;
  readonly document: Row;
  readonly reread: () => Promise<Reply<Row>>;
  readonly mayWrite: boolean;
  readonly isEditing: boolean;
}

/** Words of the dialog that asks before a thing is deleted. */
export interface Removal {
  readonly lost: ReactNode;
  readonly uses?: ReactNode;
  /** True if its name has to be typed, because it is in use. */
  readonly mustType?: boolean;
  /** Words of the button where the server would refuse: "Used by 2: free it first". Then it cannot be pressed. */
  readonly blocked?: string | undefined;
  /** Without these they say "Delete the key “CI main”?", "Delete key" and "Deleted the key CI main." */
  readonly title?: string;
  readonly act?: string;
  readonly said?: string;
}

export interface RemovalProps<Row> {
  readonly document: Row;
  readonly render: (words: Removal) => ReactNode;
}

/** What stands around an edit that changes who gets in. */
export interface Allowed {
  /** Lets the person's own address in, then saves. */
  readonly run?: () => void;
  readonly problem?: ReactNode;
  /** Takes the place of saving, and has a sheet beside the edit; undefined for an edit that changes nobody's verdict. */
  readonly rehearsal?: { readonly open: () => void; readonly shows: boolean; readonly sheet: ReactNode } | undefined;
}

/** Shows an edit with what stands around it. */
export type AllowComponent<Row> = (props: {
  readonly edit: Edit<Row, Values>;
  readonly document: Row;
  readonly render: (allow: Allowed) => ReactNode;
}) => ReactNode;

/** One description of a resource: its list, the forms that create and edit one, its page, its deletion. */
export interface Resource<Id extends ListId> extends Listed<Id> {
  /** Where one of them is opened, without its id: "/bot-users". */
  readonly path: string;
  /** Where all of them are, if not there. */
  readonly listPath?: string;
  readonly nameOf: (row: Entry<Id>) => string;
  /** Such as "IP policies" in "only an admin may write IP policies"; the noun without it. */
  readonly what?: string;
  /** Rights to write them; everybody has them without it. */
  readonly who?: 'admins';
  /** Rights to write one of them, where its owner decides that. */
  readonly mayWrite?: (row: Entry<Id>, session: SessionFacts) => boolean;
  readonly fields: readonly FormField<Entry<Id>>[];
  /** Number of an error to the field that it is about, where its message does not say so in a word. */
  readonly errors?: Readonly<Record<number, string>>;
  readonly create: {
    /** Such as "Create a bot". */
    readonly title: string;
    /** Words of the buttons that open and send the form: "Create bot". */
    readonly act: string;
    /** Words of the button that opens it, if others. */
    readonly open?: string;
    readonly intro?: string;
    readonly note?: string;
    /** A form that needs room. */
    readonly isLarge?: boolean;
    /** Words for the fields that must be filled in before it can be sent. */
    readonly missing?: (values: Values) => string | undefined;
    /** Where one call with the body is not all. `set` keeps what a second try must not do again. */
    readonly send?: (
      body: object,
      values: Values,
      set: (part: Values) => void,
      session: SessionFacts,
    ) => Promise<Entry<Id>>;
    /** "Created the bot old ERP." without it. */
    readonly said?: (row: Entry<Id>) => string;
    /** Shown in place of the new thing's page. */
    readonly Created?: (props: { readonly document: Entry<Id>; readonly onClose: () => void }) => ReactNode;
  };
  readonly edit?: {
    readonly intro?: string;
    readonly send?: (id: string, changed: object, options: SaveOptions, base: Entry<Id>) => Promise<unknown>;
    /** Lets the person's own address in where the change would lock it out. */
    readonly Allow?: AllowComponent<Entry<Id>>;
  };
  /** Shows the dialog, with words that may need other lists. */
  readonly Removal: (props: RemovalProps<Entry<Id>>) => ReactNode;
  /** Words of the button that opens that dialog. */
  readonly deleteWords?: string;
  /** True if it is deleted whatever somebody else has changed meanwhile. */
  readonly deletesAnyState?: boolean;
  readonly badge?: (row: Entry<Id>) => ReactNode;
  readonly lead?: (row: Entry<Id>, session: SessionFacts) => ReactNode;
  /** The panel that gives way to the edit. */
  readonly facts?: (row: Entry<Id>) => readonly (Fact | undefined)[];
  /** A button between Edit and Delete. */
  readonly MoreActs?: () => ReactNode;
  /** Buttons in place of Edit and Delete. */
  readonly acts?: (shown: Shown<Entry<Id>>) => ReactNode;
  /** All that stands below head and facts. */
  readonly Body?: (props: Shown<Entry<Id>>) => ReactNode;
}
