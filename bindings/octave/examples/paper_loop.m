function table = paper_loop(frames, n)
% table = paper_loop(frames, n)   the loop of the BPMD paper: Lemke's method on each frame, friction by n directions
%
% frames is what load('problems.h5') or ss_read shows: p.simulation_00001, or p itself where frames are in the root.
% table is a struct array with key, pivots, ended, z and metrics. In Octave the loop may read, as in the paper,
%   for [frame, key] = p.simulation_00001
  table = struct('key', {}, 'pivots', {}, 'ended', {}, 'z', {}, 'metrics', {});
  keys = fieldnames(frames);
  for k = find(strncmp(keys', 'mbs_frame', 9))
    frame = frames.(keys{k});
    [A, b] = h5_build_stap_reduced(frame, n);
    [z, pivots, ended] = lemke(A, b);
    metrics = coulomb_metrics(frame, z, n);
    table(end + 1) = struct('key', keys{k}, 'pivots', pivots, 'ended', ended, 'z', z, 'metrics', metrics);
  end
end
