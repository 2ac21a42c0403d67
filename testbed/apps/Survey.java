import javax.swing.*;
import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;

/** A Swing window: a menu, tabs, a list, a table, a button and a field that show what was done. */
public class Survey {
    public static void main(String[] args) {
        SwingUtilities.invokeLater(Survey::open);
    }

    private static void open() {
        JFrame frame = new JFrame("Orchard, Swing");
        JMenuBar bar = new JMenuBar();
        JMenu file = new JMenu("File");
        file.add(new JMenuItem("Quit"));
        bar.add(file);
        frame.setJMenuBar(bar);
        JLabel told = new JLabel("Nothing yet");
        JButton button = new JButton("Press me");
        button.addActionListener(event -> told.setText("It was pressed"));
        JLabel label = new JLabel("Name");
        JTextField name = new JTextField(20);
        label.setLabelFor(name);
        name.getDocument().addDocumentListener(new DocumentListener() {
            private void tell() { told.setText("Hello " + name.getText()); }
            @Override public void insertUpdate(DocumentEvent event) { tell(); }
            @Override public void removeUpdate(DocumentEvent event) { tell(); }
            @Override public void changedUpdate(DocumentEvent event) { tell(); }
        });
        JPanel first = new JPanel();
        first.setLayout(new BoxLayout(first, BoxLayout.Y_AXIS));
        String[][] rows = {{"Plum", "12"}, {"Pear", "7"}};
        first.add(button);
        first.add(told);
        first.add(label);
        first.add(name);
        first.add(new JCheckBox("Wrap"));
        first.add(new JScrollPane(new JList<>(new String[] {"Apples", "Pears", "Plums"})));
        first.add(new JScrollPane(new JTable(rows, new String[] {"Tree", "Crates"})));
        first.add(new JTextArea("Two lines\nof a note"));
        JTabbedPane tabs = new JTabbedPane();
        tabs.addTab("First", first);
        tabs.addTab("Second", new JLabel("On the second tab"));
        frame.add(tabs);
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setSize(500, 600);
        frame.setVisible(true);
    }
}
