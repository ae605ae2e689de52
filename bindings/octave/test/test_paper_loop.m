% The loop of the BPMD paper on genuine files, with an own Lemke, against what the program says about the same answers.
data = fullfile(getenv('SS_SHARED_DATA'), 'bpmd');
program = getenv('SS_PROGRAM');
if exist(fullfile(data, 'stack6_gazebo6.h5'), 'file') ~= 2
  if strcmp(getenv('STICKSLIP_REQUIRE_DATA'), '1')
    error('no files in %s, and STICKSLIP_REQUIRE_DATA=1', data);
  end
  fprintf('skip: no files in %s\n', data);
  return
end
warning('off', 'stickslip:repair');

% How many frames have an own Lemke in three lines each, how many pivots it takes, and that it solves them.
files = {'sphere1_gazebo11.h5', 'chain10_gazebo6.h5', 'stack6_gazebo6.h5'};
take = [5, 10, 2];
for i = 1:3
  p = load(fullfile(data, files{i}));
  keys = fieldnames(p);
  p = rmfield(p, keys(take(i) + 1:end));
  table = paper_loop(p, 8);
  assert(numel(table) == take(i) && all(strcmp({table.ended}, 'solved')) && all([table.pivots] > 0));

  % The frames of load are those of our reader, repairs included.
  ours = ss_read(fullfile(data, files{i}));
  for k = 1:take(i)
    frame = ours.(keys{k});
    if isfield(frame, 'solver_data')
      frame = rmfield(frame, 'solver_data');
    end
    assert(isequal(ss_frame(p.(keys{k})), frame));
  end

  % Our answers, judged by the program: the same metrics.
  stored = cell(1, take(i));
  for k = 1:take(i)
    frame = ss_frame(p.(keys{k}));
    [metrics, answer] = coulomb_metrics(frame, table(k).z, 8);
    assert(isequaln(metrics, table(k).metrics));
    answer.formulation = 'stewart-trinkle';
    answer.with = 'directions=8';
    frame.solver_data.own = answer;
    stored{k} = frame;
  end
  file = fullfile(getenv('SS_SCRATCH'), 'own.h5');
  ss_write(file, stored);
  [code, text] = system(sprintf('"%s" judge "%s" --json', program, file));
  judged = jsondecode(text);
  for k = 1:take(i)
    compare_metrics(judged.answers(k).metrics, table(k).metrics, 1e-12);
  end

  % The program's Lemke, judged by us: the same metrics. It may be another solution, as impulses are not unique.
  file = fullfile(getenv('SS_SCRATCH'), 'theirs.h5');
  [code, text] = system(sprintf('"%s" solve "%s" --frame 0:%d -f stewart-trinkle --with directions=8 -s lemke --json -o "%s" 2>%s', ...
                                program, fullfile(data, files{i}), take(i), file, fullfile(getenv('SS_SCRATCH'), 'log')));
  solved = jsondecode(text);
  for k = 1:take(i)
    frame = p.(keys{k});
    theirs = ss_read(file, k);
    metrics = coulomb_metrics(frame, theirs.solver_data.lemke);
    compare_metrics(solved.frames(k).metrics, metrics, 1e-12);
    here = ss_solve(frame, 'lemke', 'formulation', 'stewart-trinkle', 'with', 'directions=8', 'history', true); % as with -o
    compare_metrics(solved.frames(k).metrics, here.metrics, 1e-12);
    assert(here.iterations == solved.frames(k).iterations);
    if i == 1 % one sphere: the solution is unique, so that our Lemke has to end there, too
      compare_metrics(solved.frames(k).metrics, table(k).metrics, 1e-12);
    end
  end
end

% The syntax of the paper, which is Octave's alone.
p = load(fullfile(data, files{1}));
seen = 0;
eval('for [frame, key] = p, [A, b] = h5_build_stap_reduced(frame, 8); seen = seen + numel(b); end');
assert(seen == 5 * 10);
