import type { Session, Visibility } from '../../contract/session.ts';

const MEANINGS: Record<Exclude<Visibility, 'team'>, string> = {
  facts: 'Only the person who ran this session can read it; others see its facts',
  private: 'Only the person who ran this session can see it',
};

/** Marks a session that not every member may read. */
export const VisibilityMark = ({ session: { visibility = 'team' } }: { session: Session }) =>
  visibility === 'team' ? null : (
    <span className="tag" title={MEANINGS[visibility]}>
      {visibility}
    </span>
  );
