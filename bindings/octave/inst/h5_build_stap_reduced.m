function [A, b, problem] = h5_build_stap_reduced(frame, n)
% [A, b] = h5_build_stap_reduced(frame, n)            the frame as an LCP, friction by a polygon of n directions
% [A, b, problem] = h5_build_stap_reduced(frame, n)   and the problem it was made of
%
% Stewart and Trinkle's formulation, reduced to impulses: 0 <= z, A z + b >= 0, z' (A z + b) = 0. For each contact z
% holds the normal impulse, the impulses along the n directions and the sliding speed (of a contact whose friction
% has only one direction: two). Joint equations are solved for; limits and motors precede the contacts. n is 8 by
% default. problem.lcp(z) turns z into the unknowns of the problem, for ss_recover; coulomb_metrics takes z itself.
%
% The name is the one that the BPMD paper uses; its authors' script was not published, so that order and arguments
% are ours.
%
% Example: the loop of the paper
%   p = load('problems.h5');                    % or ss_read('problems.h5'), which repairs known defects
%   names = fieldnames(p.simulation_00001);
%   for k = find(strncmp(names', 'mbs_frame', 9))
%     frame = p.simulation_00001.(names{k});
%     [A, b] = h5_build_stap_reduced(frame, 8);
%     z = my_lemke(A, b);
%     metrics = coulomb_metrics(frame, z, 8);
%   end
%
% See also coulomb_metrics, ss_problem, ss_lcp
  if nargin < 2
    n = 8;
  end
  problem = ss_problem(frame, 'stewart-trinkle', struct('directions', n));
  [A, b, recover] = ss_lcp(problem);
  problem.lcp = recover;
end
