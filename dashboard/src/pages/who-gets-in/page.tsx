import { useState } from 'react';

import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import { Button } from '../../components/button.tsx';
import { LetInDialog } from '../../parts/let-in-dialog.tsx';
import { PageHead } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { Glyph, VerdictBox } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { ApiError } from '../../../../client/src/index.ts';
import { DoorTable } from './door-table.tsx';
import { DescribeVisitor, describedIn } from './described.tsx';
import { isShutByAddress, isShutting, toneOf, useDoors } from './doors.ts';
import type { Door, Doors, Outcome } from './doors.ts';
import { useNames } from '../../parts/names.ts';
import { useRecentWarnings } from './recent-warnings.ts';

export function Page() {
  const [params, setParams] = useUrlState();
  const { address } = useSession();
  const edgeId = params.get('edge');
  // A link from an edge asks about that edge, first for whoever follows it.
  const ip = params.get('ip') ?? (edgeId === null ? '' : address);
  const [headers, setHeaders] = useState<readonly Pair[]>([]);
  const read = useDoors(ip, edgeId, describedIn(params, headers));
  const ask = (next: string): void => setParams({ ip: next.trim(), open: undefined }, { push: true });
  const isRefusedInput = read.error instanceof ApiError && read.error.status === 400;
  return (
    <>
      <PageHead
        title="Who gets in?"
        lead="Type an address. You see what every door does with it, and which rule decides. Nothing is changed or counted."
      />
      <div className="stack tight">
        <Ask key={ip} ip={ip} onAsk={ask} error={isRefusedInput ? read.error?.message : undefined} />
        <Offers ip={ip} onAsk={ask} />
        <DescribeVisitor
          key={['email', 'groups', 'certificate'].map((each) => params.get(each)).join(' ')}
          params={params}
          headers={headers}
          onDescribe={(change, next) => {
            setHeaders(next);
            setParams({ ...change, ip }, { push: true });
          }}
        />
      </div>
      {ip === '' ? (
        <section className="panel">
          <Empty icon="door" title="No address yet">
            Type one, paste one from a log, or pick one above.
          </Empty>
        </section>
      ) : read.error !== undefined && !isRefusedInput ? (
        <section className="panel">
          <ErrorState title="The doors could not be read" error={read.error} onRetry={read.retry} />
        </section>
      ) : isRefusedInput ? null : read.data === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <>
          {read.data.onlyEdge === undefined ? null : (
            <OnlyEdge name={read.data.onlyEdge} onAll={() => setParams({ edge: undefined, ip }, { push: true })} />
          )}
          <Answer doors={read.data} openId={params.get('open')} onOpen={(id) => setParams({ open: id })} />
        </>
      )}
    </>
  );
}

function Ask({
  ip,
  onAsk,
  error,
}: {
  readonly ip: string;
  readonly onAsk: (ip: string) => void;
  readonly error: string | undefined;
}) {
  const [text, setText] = useState(ip);
  return (
    <>
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          onAsk(text);
        }}
      >
        <label className="vh" htmlFor="ip">
          Address
        </label>
        <input
          id="ip"
          className="input"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="203.0.113.7"
          spellCheck={false}
          autoComplete="off"
          aria-invalid={error === undefined ? undefined : true}
          aria-describedby="ip-error"
          aria-keyshortcuts="f"
        />
        <Button look="primary" type="submit" disabled={text.trim() === ''}>
          Check
        </Button>
      </form>
      <div id="ip-error">
        {error === undefined ? null : (
          <p className="error" role="alert">
            <Glyph tone="deny" />
            <span>{error}</span>
          </p>
        )}
      </div>
    </>
  );
}

function Offers({ ip, onAsk }: { readonly ip: string; readonly onAsk: (ip: string) => void }) {
  const { address } = useSession();
  const recent = useRecentWarnings();
  const chip = (each: string) => (
    <button
      key={each}
      type="button"
      className={each === ip ? 'chip set' : 'chip'}
      aria-pressed={each === ip}
      onClick={() => onAsk(each)}
    >
      {each === address ? 'You, ' : ''}
      <code>{each}</code>
    </button>
  );
  return (
    <div className="row wrap">
      {recent.length === 0 ? null : (
        <>
          <span className="muted">Recent warnings</span>
          {recent.filter((each) => each !== address).map(chip)}
          <span className="muted">or</span>
        </>
      )}
      {chip(address)}
    </div>
  );
}

function OnlyEdge({ name, onAll }: { readonly name: string; readonly onAll: () => void }) {
  return (
    <Banner
      actions={
        <Button small onClick={onAll}>
          Show every door
        </Button>
      }
    >
      Only the edge “{name}” is shown, and the endpoints restrictions that come before it.
    </Banner>
  );
}

function Answer({
  doors: { ip, doors, onlyEdge, isCut },
  openId,
  onOpen,
}: {
  readonly doors: Doors;
  readonly openId: string | null;
  readonly onOpen: (id: string | undefined) => void;
}) {
  const names = useNames();
  const mayWrite = useMayWrite();
  const [lettingIn, setLettingIn] = useState<readonly Door[]>();
  const whole = doors.filter(({ isPart, group }) => !isPart && (onlyEdge === undefined || group === 'edges'));
  const isOpen = ({ outcome }: Door): boolean => outcome === 'open';
  const open = whole.filter(isOpen).length;
  const openThen = whole.filter((door) => isOpen(door) && door.verdict.allowed_if_all_enforced).length;
  const shut = doors.filter((door) => !door.verdict.allowed_if_all_enforced && isShutByAddress(door));
  const isShutEverywhere = whole.every(({ outcome }) => outcome === 'refused');
  // Most addresses are meant to be refused somewhere: red is for one that gets in nowhere.
  const tone = isShutEverywhere ? 'deny' : openThen < open ? 'warn' : open < whole.length ? 'off' : 'allow';
  const refused = lettingIn?.flatMap(({ verdict }) => verdict.checks.filter(({ effect }) => isShutting(effect)));
  const denying = refused?.find(({ rule }) => rule?.action === 'deny')?.rule ?? undefined;
  return (
    <>
      <VerdictBox
        tone={tone}
        title={`${ip} ${whereTo(onlyEdge, whole)}${changeOf(onlyEdge, open, openThen)}`}
        reason={reasonOf(doors, isCut)}
        actions={
          mayWrite && shut.length > 0 ? <Button onClick={() => setLettingIn(shut)}>Let it in…</Button> : undefined
        }
      />
      <DoorTable
        doors={doors}
        names={names}
        openId={openId}
        onOpen={onOpen}
        onLetIn={mayWrite ? (door) => setLettingIn([door]) : undefined}
      />
      {refused === undefined ? null : (
        <LetInDialog
          ip={ip}
          policyIds={[...new Set(refused.flatMap(({ ip_policies: policies }) => policies.map(({ id }) => id)))]}
          denyingRule={denying === undefined ? undefined : { cidr: denying.cidr, policyId: denying.ip_policy.id }}
          onClose={() => setLettingIn(undefined)}
        />
      )}
    </>
  );
}

const ofOneEdge: Readonly<Record<Outcome, (name: string) => string>> = {
  open: (name) => `gets into ${name} now`,
  asks: (name) => `gets into ${name} now only with more than the address`,
  refused: (name) => `does not get into ${name} now`,
  differs: (name) => `gets different answers from the routes of ${name} now`,
};

function whereTo(onlyEdge: string | undefined, whole: readonly Door[]): string {
  const [only] = whole;
  if (onlyEdge !== undefined && only !== undefined) return ofOneEdge[only.outcome](onlyEdge);
  const count = (wanted: Outcome): number => whole.filter(({ outcome }) => outcome === wanted).length;
  const others = [
    ['is asked for more at', count('asks')],
    ['is refused at', count('refused')],
    ['depends on the route at', count('differs')],
  ] as const;
  const told = others.flatMap(([words, number]) => (number === 0 ? [] : [`${words} ${formatNumber(number)}`]));
  return [`gets into ${formatNumber(count('open'))} of ${formatNumber(whole.length)} doors now`, ...told].join(', ');
}

function changeOf(onlyEdge: string | undefined, open: number, openThen: number): string {
  if (openThen === open) return '';
  return onlyEdge === undefined
    ? `, and would get into ${formatNumber(openThen)} if every warning were enforced`
    : ', but not if every warning were enforced';
}

function reasonOf(doors: readonly Door[], isCut: boolean): string {
  // An edge whose routes differ is named by these.
  const shown = doors.filter(({ outcome }) => outcome !== 'differs');
  const by = (tone: string): string[] => shown.filter((door) => toneOf(door) === tone).map(({ fullName }) => fullName);
  const [asked, refused, warned] = [by('ask'), by('deny'), by('warn')];
  return [
    asked.length === 0 ? '' : `The address alone does not suffice at ${listOf(asked)}.`,
    refused.length === 0 ? 'Nothing refuses it.' : `Refused by ${listOf(refused)}.`,
    warned.length === 0 ? '' : `If every restriction were enforced, ${listOf(warned)} would refuse it.`,
    isCut ? 'Only the newest 500 edges of each kind were asked.' : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, 4);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${formatNumber(more)} more`}`;
}
