function [ok, findings] = ss_check(subject)
% ok = ss_check(path)                all frames of a BPMD file, or the problems of an FCLIB file, are without faults
% ok = ss_check(frame)               the same of one frame
% [ok, findings] = ss_check(...)     what was found: a struct array with kind ('fault', 'warning', 'repair'), place, message
% ss_check(...)                      prints the findings
%
% A fault must not reach a solver; a warning is worth a look; a repair is a known defect of a program's files that
% the reader has mended. Places count from 0, as in files.
%
% Example:
%   [ok, findings] = ss_check('stack.h5');
%   {findings.message}
%
% See also ss_frame, ss_diagnose
  if ~ischar(subject)
    [frame, findings] = stickslip_mex('frame', subject);
  elseif strcmp(stickslip_mex('format', subject), 'fclib')
    findings = struct('kind', {}, 'place', {}, 'message', {});
    kinds = stickslip_mex('fclib_kinds', subject);
    for k = 1:numel(kinds)
      [cone, found] = stickslip_mex('fclib_read', subject, kinds{k});
      findings = ss_join(findings, found);
    end
  else
    [frames, findings] = ss_read(subject);
  end
  ok = ~any(strcmp({findings.kind}, 'fault'));
  if nargout == 0
    for i = 1:numel(findings)
      fprintf('%s: %s: %s\n', findings(i).kind, findings(i).place, findings(i).message);
    end
    clear ok
  end
end
