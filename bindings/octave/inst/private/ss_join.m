function findings = ss_join(findings, found)
% findings = ss_join(findings, found)   adds to a list; Octave forgets the fields when empty lists are joined
  if ~isempty(found)
    findings = [findings, found];
  end
end
