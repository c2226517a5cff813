import { Secret } from '../../components/copy.tsx';
import { Empty } from '../../components/states.tsx';

/** The folder that the documentation names. */
const setting = 'GATEHOUSE_DECISIONS=/var/lib/gatehouse/decisions';

/** Says in place of a list what has to be set before there can be one. */
export function NotKept({ why }: { readonly why: string }) {
  return (
    <section className="panel">
      <Empty icon="past" title="No decisions are kept, so nothing can be shown">
        {why}
      </Empty>
      <div className="pad stack tight">
        <p className="soft">
          The operator sets this on every process that carries traffic, and starts it again. Decisions are kept from
          then on, for 7 days and in 1 GB unless other settings say so, without bodies, headers and queries. If the
          package that keeps them is missing, the start ends with the command that installs it.
        </p>
        <Secret text={setting} what="the setting" />
        <p className="soft">
          Until then, <a href="/dashboard/traffic">Live traffic</a> shows requests as they happen.
        </p>
      </div>
    </section>
  );
}
