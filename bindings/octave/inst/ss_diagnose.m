function complaints = ss_diagnose(problem)
% complaints = ss_diagnose(problem)   what is wrong with a problem, in words
%
% A struct array with severity ('note', 'warning', 'fatal'), defect, message, advice, contact and constraint (from 1,
% 0 = none) and value: redundant or contradictory joints, wedged bodies, extreme masses, units, Painleve contacts.
% Frames are taken too, as problems of the formulation 'cone'.
%
% Example:
%   for complaint = ss_diagnose(frame), disp(complaint.message), end
%
% See also ss_check
  problem = ss_subject(problem);
  if ~isfield(problem, 'A')
    problem = ss_problem(problem);
  end
  complaints = stickslip_mex('diagnose', problem);
end
