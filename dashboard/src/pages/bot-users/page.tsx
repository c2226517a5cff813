import type { PageProps } from '../../components/page.tsx';
import { BotDetail } from './bot-detail.tsx';
import { BotList } from './bot-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <BotList /> : <BotDetail key={id} id={id} />;
}
